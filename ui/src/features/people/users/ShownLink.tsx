import type { Link } from '@/shared/data/users';
import { ShownSecret } from '../ShownSecret';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A link that was just made, to be sent to one person. */
export function ShownLink({ made: { link, expires_at: end }, onClose }: { made: Link; onClose: () => void }) {
  return (
    <ShownSecret
      text={link}
      name="The link"
      copy="Copy the link"
      warning="This link is shown only now, and works once: send it to one person only."
      note={end === null ? undefined : `It works until ${full.format(new Date(end))}.`}
      onClose={onClose}
    />
  );
}

import type { NewKey } from '@/shared/data/apiKeys';
import { ShownSecret } from '../ShownSecret';

interface ShownKeyProps {
  made: NewKey;
  /** What else there is to know about it. */
  note?: string;
  onClose: () => void;
}

/** The text of a key that was just made. */
export function ShownKey({ made, note, onClose }: ShownKeyProps) {
  return (
    <ShownSecret
      text={made.key}
      name="The new key"
      copy="Copy the key"
      warning="This key is shown only now. Mnemoir does not keep it, so nobody can look it up later. Anyone who has it can use it."
      note={note}
      onClose={onClose}
    />
  );
}

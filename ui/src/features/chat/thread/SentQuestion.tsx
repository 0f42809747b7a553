import { Words } from '@/shared/components/Words';
import classes from './Message.module.css';
import type { Turn } from './turns';

/** A message on its way, as it will stand in the thread. */
export function SentQuestion({ turn }: { turn: Turn }) {
  const { text, images } = turn.question;
  return (
    <article className={classes.user} aria-label="You said">
      {images.length > 0 && (
        <div className={classes.actions}>{images.length === 1 ? '1 picture' : `${images.length} pictures`}</div>
      )}
      {text && (
        <div className={classes.bubble}>
          <Words>{text}</Words>
        </div>
      )}
    </article>
  );
}

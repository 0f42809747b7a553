import { useIsSilent } from '@/shared/data/about';
import classes from './Shell.module.css';

/** Says that the server does not answer, until it does. */
export function SilenceBar() {
  if (!useIsSilent()) return null;
  return (
    <p role="alert" className={classes.silence}>
      The server does not answer. What you see may be old. Trying again…
    </p>
  );
}

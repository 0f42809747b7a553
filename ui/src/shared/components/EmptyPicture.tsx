import type { IconType } from 'react-icons';
import classes from './EmptyPicture.module.css';

/** A blank card in front of two others, with the sign of what would be on it: one picture for all that is empty. */
export function EmptyPicture({ Icon }: { Icon: IconType }) {
  return (
    <svg className={classes.picture} viewBox="0 0 120 84" width="120" height="84" aria-hidden>
      <circle className={classes.ground} cx="60" cy="44" r="38" />
      <rect className={classes.behind} x="26" y="16" width="56" height="40" rx="6" transform="rotate(-9 54 36)" />
      <rect className={classes.behind} x="40" y="16" width="56" height="40" rx="6" transform="rotate(8 68 36)" />
      <rect className={classes.card} x="30" y="24" width="60" height="44" rx="7" />
      <Icon className={classes.sign ?? ''} x="48" y="31" size={24} />
      <path className={classes.line} d="M44 61h32" />
    </svg>
  );
}

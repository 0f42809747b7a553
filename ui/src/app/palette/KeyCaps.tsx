import { Kbd } from '@mantine/core';
import classes from './Palette.module.css';

/** The keys of a shortcut, as they stand on the keyboard. */
export function KeyCaps({ keys }: { keys: readonly string[] }) {
  return (
    <span className={classes.keys}>
      {keys.map(key => (
        <Kbd key={key} size="xs">
          {key}
        </Kbd>
      ))}
    </span>
  );
}

import { Tooltip } from '@mantine/core';
import { looks, type MessageState } from './states';
import classes from './Window.module.css';

/** What became of a message: a swatch, as in the bar, and the word. */
export function StateMark({ state, tokens }: MessageState) {
  const look = looks[state];
  return (
    <Tooltip label={look.hint}>
      <span className={classes.mark}>
        <span className={classes.swatch} data-state={state} aria-hidden />
        {look.name}
        {tokens !== null && ` · ${tokens.toLocaleString()} tokens`}
      </span>
    </Tooltip>
  );
}

import { Loader } from '@mantine/core';
import { useEffect } from 'react';
import { LazyMarkdown, loadMarkdown } from './LazyMarkdown';
import classes from './Message.module.css';
import { settledBlocks } from './settledBlocks';
import { Thinking } from './Thinking';
import type { Turn } from './turns';

/** The answer as far as it has come. */
export function LiveAnswer({ turn }: { turn: Turn }) {
  useEffect(() => void loadMarkdown(), []);
  return (
    <article className={classes.answer} aria-label="Answer" aria-busy>
      {turn.thinking && <Thinking text={turn.thinking} isLive={!turn.text} />}
      {settledBlocks(turn.text).map((block, at) => block && <LazyMarkdown key={at}>{block}</LazyMarkdown>)}
      {!turn.text && (
        <div className={classes.waiting}>
          <Loader size="sm" type="dots" aria-hidden />
        </div>
      )}
    </article>
  );
}

import { Loader } from '@mantine/core';
import { useEffect } from 'react';
import { TbPlugConnectedX } from 'react-icons/tb';
import { LazyMarkdown, loadMarkdown } from './LazyMarkdown';
import classes from './Message.module.css';
import { settledBlocks } from './settledBlocks';
import { Thinking } from './Thinking';
import type { Turn } from './turns';

interface LiveAnswerProps {
  turn: Turn;
  /** The connection broke: no more of it will come. */
  isBroken?: boolean;
}

/** The answer as far as it has come. */
export function LiveAnswer({ turn, isBroken = false }: LiveAnswerProps) {
  useEffect(() => void loadMarkdown(), []);
  return (
    <article className={classes.answer} aria-label="Answer" aria-busy={!isBroken}>
      {turn.thinking && <Thinking text={turn.thinking} isLive={!turn.text && !isBroken} />}
      {settledBlocks(turn.text).map((block, at) => block && <LazyMarkdown key={at}>{block}</LazyMarkdown>)}
      {!turn.text && !isBroken && (
        <div className={classes.waiting}>
          <Loader size="sm" type="dots" aria-hidden />
        </div>
      )}
      {turn.isLost && !isBroken && (
        <div className={classes.mark} role="status">
          <TbPlugConnectedX aria-hidden />
          Connection lost. Reconnecting…
        </div>
      )}
      {isBroken && (
        <div className={classes.mark}>
          <TbPlugConnectedX aria-hidden />
          This answer is incomplete: the connection was lost.
        </div>
      )}
    </article>
  );
}

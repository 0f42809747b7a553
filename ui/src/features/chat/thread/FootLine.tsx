import { Link } from 'react-router';
import { Time } from '@/shared/components/Time';
import type { Message } from '@/shared/data/conversations/messages';
import { type RunShort, useRunSummary } from '@/shared/data/runs/run';
import { MemoriesUsed } from './MemoriesUsed';
import classes from './Message.module.css';
import { useInSight } from './useInSight';

/** How an answer was made: the workflow, the memories it was given, the wait for its first words, and its tokens. */
export function FootLine({ message }: { message: Message }) {
  const isInSight = useInSight();
  const { data: run } = useRunSummary(message.run_id, { enabled: isInSight });
  return (
    <span className={classes.foot}>
      {run && <Figures run={run} />}
      {!run && message.created_at && <Time value={message.created_at} />}
    </span>
  );
}

function Figures({ run }: { run: RunShort }) {
  const about = run.tokens_counted ? '≈' : '';
  return (
    <>
      <Link to={`/runs?id=${encodeURIComponent(run.id)}`} aria-label={`Run trace: ${run.workflow}, ${nodes(run)}`}>
        {run.workflow} · {nodes(run)}
      </Link>
      <span aria-hidden>·</span>
      <MemoriesUsed memories={run.memories} />
      {run.first_token_ms !== null && (
        <>
          <span aria-hidden>·</span>
          <span title="Time to first token">first token {seconds(run.first_token_ms)}</span>
        </>
      )}
      {run.input_tokens + run.output_tokens > 0 && (
        <>
          <span aria-hidden>·</span>
          <span title={run.tokens_counted ? 'Estimated by Mnemoir' : 'Counted by the model server'}>
            {about}
            {run.input_tokens.toLocaleString()} in, {about}
            {run.output_tokens.toLocaleString()} out
          </span>
        </>
      )}
    </>
  );
}

function nodes({ nodes: count }: RunShort): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

import { Checkbox } from '@mantine/core';
import { Link } from 'react-router';
import { Time } from '@/shared/components/Time';
import { Pieces } from '@/shared/components/Words';
import type { RunListed } from '@/shared/data/runs/runs';
import { counted, span, tokens } from '../figures';
import { StatusMark } from '../StatusMark';
import classes from './RunRow.module.css';

interface RunRowProps {
  run: RunListed;
  to: string;
  isChosen: boolean;
  isMarked: boolean;
  onMark: () => void;
}

/** A run in the list: how it ended, what was asked, what ran, how long, and for whom. */
export function RunRow({ run, to, isChosen, isMarked, onMark }: RunRowProps) {
  const workflow = run.workflow || (run.status === 'running' ? 'Starting…' : 'No workflow');
  const name = run.question || workflow;
  const ran = [name !== workflow && workflow, run.model].filter(Boolean).join(' · ');
  return (
    <div className={classes.row} data-chosen={isChosen || undefined}>
      <Link className={classes.link} to={to} aria-current={isChosen ? 'true' : undefined}>
        <StatusMark status={run.status} />
        <span className={classes.words}>
          <span className={classes.first}>
            <bdi className={classes.name}>
              <Pieces text={name} />
            </bdi>
            <span className={classes.span}>{run.status === 'running' ? '' : span(run.duration_ms)}</span>
          </span>
          {ran && (
            <bdi className={classes.quiet}>
              <Pieces text={ran} />
            </bdi>
          )}
          <span className={classes.figures}>
            <Time value={run.started_at} ago />
            {figuresOf(run).map(figure => (
              <span key={figure}>{figure}</span>
            ))}
          </span>
          <bdi className={classes.quiet}>
            <Pieces text={whose(run)} />
          </bdi>
          {run.error && (
            <bdi className={classes.error}>
              <Pieces text={run.error.slice(0, 200)} />
            </bdi>
          )}
        </span>
      </Link>
      <Checkbox
        size="xs"
        className={classes.mark}
        checked={isMarked}
        onChange={onMark}
        aria-label={`Compare ${name}, ${run.id}`}
      />
    </div>
  );
}

function figuresOf(run: RunListed): string[] {
  return [
    counted(run.nodes, 'node', 'nodes'),
    run.memories ? counted(run.memories, 'memory', 'memories') : '',
    tokens(run),
  ].filter(Boolean);
}

function whose(run: RunListed): string {
  return [run.user, run.user_id, run.conversation].filter(Boolean).join(' · ');
}

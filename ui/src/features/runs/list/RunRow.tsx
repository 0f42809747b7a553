import { Link } from 'react-router';
import { TickBox } from '@/shared/components/TickBox';
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
  /** Whether to say whose run it is: among runs of one user that is told once, by the page. */
  tellsUser: boolean;
  onMark: () => void;
}

/** A run in the list: how it ended, what was asked, and below that in one line when, by what and with how much. */
export function RunRow({ run, to, isChosen, isMarked, tellsUser, onMark }: RunRowProps) {
  const workflow = run.workflow || (run.status === 'running' ? 'Starting…' : 'No workflow');
  const name = run.question || workflow;
  return (
    <div className={classes.row} data-chosen={isChosen || undefined}>
      <Link data-row className={classes.link} to={to} aria-current={isChosen ? 'true' : undefined}>
        <StatusMark status={run.status} />
        <span className={classes.words}>
          <span className={classes.first}>
            <bdi className={classes.name}>
              <Pieces text={name} />
            </bdi>
            <span className={classes.span}>{run.status === 'running' ? '' : span(run.duration_ms)}</span>
          </span>
          <span className={classes.figures}>
            <Time value={run.started_at} ago />
            {[name !== workflow && workflow, tellsUser && run.user_id].map(
              text =>
                text && (
                  <bdi key={text}>
                    <Pieces text={text} />
                  </bdi>
                ),
            )}
            {figuresOf(run).map(figure => (
              <span key={figure}>{figure}</span>
            ))}
          </span>
          {run.error && (
            <bdi className={classes.error}>
              <Pieces text={run.error.slice(0, 200)} />
            </bdi>
          )}
        </span>
      </Link>
      <span className={classes.mark}>
        <TickBox checked={isMarked} onChange={onMark} aria-label={`Compare ${name}, ${run.id}`} />
      </span>
    </div>
  );
}

function figuresOf(run: RunListed): string[] {
  return [
    run.nodes > 1 ? counted(run.nodes, 'node', 'nodes') : '',
    run.memories ? counted(run.memories, 'memory', 'memories') : '',
    tokens(run),
  ].filter(Boolean);
}

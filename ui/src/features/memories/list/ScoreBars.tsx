import { Tooltip } from '@mantine/core';
import type { Hit } from '@/shared/data/memories/list';
import classes from './list.module.css';
import { nameOfStage } from './stages';

interface ScoreBarsProps {
  hit: Hit;
  /** The largest figure of each stage among all that was found. */
  most: Readonly<Record<string, number>>;
}

/** The score and what each stage of the search gave to it. A full bar is the most that stage gave to anything. */
export function ScoreBars({ hit, most }: ScoreBarsProps) {
  return (
    <dl className={classes.score} aria-label={`Score ${hit.score.toFixed(2)}`}>
      <Bar name="Score" hint="All stages combined, from 0 to 1" value={hit.score} share={hit.score} strong />
      {Object.entries(hit.signals ?? {}).map(([stage, value]) => (
        <Bar key={stage} {...nameOfStage(stage)} value={value} share={value / (most[stage] || 1)} />
      ))}
    </dl>
  );
}

interface BarProps {
  name: string;
  hint: string;
  value: number;
  share: number;
  strong?: boolean;
}

function Bar({ name, hint, value, share, strong = false }: BarProps) {
  const width = `${(Math.min(1, Math.max(0, share)) * 100).toFixed(1)}%`;
  return (
    <Tooltip label={hint} openDelay={400} position="left">
      <div className={classes.stage} data-strong={strong || undefined}>
        <dt>{name}</dt>
        <dd>
          <span className={classes.track} aria-hidden>
            <span className={classes.fill} style={{ width }} />
          </span>
          <span className={classes.figure}>{value.toFixed(2)}</span>
        </dd>
      </div>
    </Tooltip>
  );
}

import { Tooltip, VisuallyHidden } from '@mantine/core';
import type { Hit } from '@/shared/data/memories/list';
import { usePointed } from '@/shared/hooks/usePointed';
import classes from './list.module.css';
import { nameOfStage } from './stages';

/** How well a memory fits, from 0 to 1, as one bar; what each stage of the search gave to that, for who points at it. */
export function Score({ hit }: { hit: Hit }) {
  const score = hit.score.toFixed(2);
  const width = `${(Math.min(1, Math.max(0, hit.score)) * 100).toFixed(1)}%`;
  const { isPointed, ...pointed } = usePointed<HTMLDivElement>(0);
  const stages = Object.entries(hit.signals ?? {});
  return (
    <>
      <div className={classes.score} {...pointed}>
        <span className={classes.track} aria-hidden>
          <span className={classes.fill} style={{ width }} />
        </span>
        <span className={classes.figure} aria-hidden>
          {score}
        </span>
        <VisuallyHidden>
          Score {score}
          {stages.map(([stage, value]) => `, ${nameOfStage(stage).name} ${value.toFixed(2)}`)}
        </VisuallyHidden>
      </div>
      {isPointed && stages.length > 0 && (
        <Tooltip
          target={pointed.ref}
          label={<Stages stages={stages} />}
          position="left"
          multiline
          defaultOpened
          events={{ hover: true, focus: true, touch: true }}
        />
      )}
    </>
  );
}

function Stages({ stages }: { stages: [string, number][] }) {
  return (
    <dl className={classes.stages}>
      {stages.map(([stage, value]) => {
        const { name, hint } = nameOfStage(stage);
        return (
          <div key={stage}>
            <dt>{name}</dt>
            <dd>{value.toFixed(2)}</dd>
            <dd>{hint}</dd>
          </div>
        );
      })}
    </dl>
  );
}

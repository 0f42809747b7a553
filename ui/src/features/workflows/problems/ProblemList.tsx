import { Anchor, Checkbox, Text } from '@mantine/core';
import { useState } from 'react';
import { TbAlertCircleFilled, TbAlertTriangleFilled, TbChecks } from 'react-icons/tb';
import { Link } from 'react-router';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { Words } from '@/shared/components/Words';
import { type ConfigProblem, useConfigProblems } from '@/shared/data/workflows';
import { addressOf } from '../place';
import classes from './ProblemList.module.css';

/** What is wrong with the tree; each problem leads to its place. */
export function ProblemList({ file }: { file: string }) {
  const [onlyHere, setOnlyHere] = useState(false);
  const { data: found, error, refetch } = useConfigProblems();
  if (error) return <ErrorState error={error} title="The check failed" onRetry={() => void refetch()} />;
  if (!found) return <LoadingState label="Checking the tree" />;
  const shown = onlyHere ? found.problems.filter(problem => problem.file === file) : found.problems;
  return (
    <section className={classes.pane} aria-label="Problems">
      <div className={classes.bar}>
        <Text size="xs" c="dimmed">
          {toldOf(found.errors, 'error')}, {toldOf(found.warnings, 'warning')}, checked{' '}
          <Time value={found.checked_at} ago />
        </Text>
        <Checkbox
          size="xs"
          label="Only this file"
          checked={onlyHere}
          onChange={event => setOnlyHere(event.currentTarget.checked)}
        />
      </div>
      {shown.length === 0 ? (
        <EmptyState
          Icon={TbChecks}
          title={onlyHere && found.problems.length ? 'No problems in this file' : 'No problems'}
          hint="Same as “mnemoir check” on the command line."
        />
      ) : (
        <VirtualRows
          items={shown}
          rowKey={problem => `${problem.file} ${problem.path} ${problem.cause}`}
          label="Problems"
          estimate={64}
          className={classes.rows}
        >
          {problem => <ProblemRow problem={problem} />}
        </VirtualRows>
      )}
    </section>
  );
}

function ProblemRow({ problem: { file, path, level, cause, fix } }: { problem: ConfigProblem }) {
  const Icon = level === 'error' ? TbAlertCircleFilled : TbAlertTriangleFilled;
  return (
    <div className={classes.problem}>
      <Icon className={classes[level]} role="img" aria-label={level} size={16} />
      <div className={classes.words}>
        <Text size="sm">
          <Words>{cause}</Words>{' '}
          <Text span size="sm" c="dimmed">
            <Words>{fix}</Words>
          </Text>
        </Text>
        <Anchor component={Link} to={`${addressOf(file, path)}&view=problems`} size="xs">
          <Words>{file}</Words> <code>{path}</code>
        </Anchor>
      </div>
    </div>
  );
}

const toldOf = (count: number, word: string) => `${count} ${count === 1 ? word : `${word}s`}`;

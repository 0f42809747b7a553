import { Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { LoadingState } from '@/shared/components/states';
import classes from './Saving.module.css';

const JsonDiff = lazy(() => import('./JsonDiff'));

interface DiffBoxProps {
  label: string;
  before: string;
  after: string;
}

/** Two texts as one, with what differs marked. */
export function DiffBox({ label, before, after }: DiffBoxProps) {
  if (before === after)
    return (
      <Text size="sm" c="dimmed" my="sm">
        No differences.
      </Text>
    );
  return (
    <div className={classes.diff}>
      <Suspense fallback={<LoadingState label="Loading the comparison" />}>
        <JsonDiff label={label} before={before} after={after} />
      </Suspense>
    </div>
  );
}

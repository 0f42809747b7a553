import { ErrorState, LoadingState } from '@/shared/components/states';
import { type RunWhole, useRun } from '../api/run';
import { CompareFigures } from './CompareFigures';
import { CompareNodes } from './CompareNodes';

/** Two runs side by side: their figures, and what differs in what their nodes were asked and answered. */
export function CompareView({ ids: [first, second] }: { ids: readonly [string, string] }) {
  const left = useRun(first);
  const right = useRun(second);
  const failed = [left, right].find(run => run.isError && !run.data);
  if (failed) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (!left.data || !right.data) return <LoadingState label="Loading both runs" />;
  const runs: readonly [RunWhole, RunWhole] = [left.data, right.data];
  return (
    <>
      <CompareFigures runs={runs} />
      <CompareNodes runs={runs} />
    </>
  );
}

import { ErrorState, LoadingState } from '@/shared/components/states';
import { type RunWhole, useRun } from '@/shared/data/runs/run';
import { isGone, RunGone } from '../RunGone';
import { CompareFigures } from './CompareFigures';
import { CompareNodes } from './CompareNodes';

interface CompareViewProps {
  ids: readonly [string, string];
  /** Whether the feed tells when a run has changed. */
  isFollowed: boolean;
}

/** Two runs side by side: their figures, and what differs in what their nodes were asked and answered. */
export function CompareView({ ids: [first, second], isFollowed }: CompareViewProps) {
  const left = useRun(first, isFollowed);
  const right = useRun(second, isFollowed);
  const failed = [left, right].find(run => run.isError && !run.data);
  if (failed && isGone(failed.error)) return <RunGone title="One of these runs no longer exists" />;
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

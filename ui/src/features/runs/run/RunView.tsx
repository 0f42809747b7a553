import { TbPlayerPlay } from 'react-icons/tb';
import { useMemo } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useRun } from '@/shared/data/runs/run';
import { isGone, RunGone } from '../RunGone';
import { useTicking } from '../useTicking';
import { chosenLine, linesOf } from './lines';
import { NodePanel } from './NodePanel';
import { RunHeader } from './RunHeader';
import { Waterfall } from './Waterfall';

interface RunViewProps {
  id: string;
  /** Place of the chosen node; null for the one that answered. */
  node: number | null;
  /** Whether the feed tells when the run has changed. */
  isFollowed: boolean;
  onNode: (place: number) => void;
}

/** One run: its figures, its nodes as a tree over time, and the chosen node with all that is known of it. */
export function RunView({ id, node, isFollowed, onNode }: RunViewProps) {
  const { data: run, error, isPending, refetch } = useRun(id, isFollowed);
  useTicking(run?.status === 'running'); // bars of what is under way grow
  const lines = useMemo(() => (run ? linesOf(run) : []), [run]);
  if (error && !run)
    return isGone(error) ? (
      <RunGone title="Run not found" />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  if (isPending) return <LoadingState label="Loading run" />;
  const chosen = chosenLine(lines, node, run.status === 'failed');
  return (
    <>
      <RunHeader run={run} />
      {lines.length > 0 ? (
        <Waterfall run={run} lines={lines} chosen={chosen?.place ?? null} onChoose={onNode} />
      ) : (
        <EmptyState
          Icon={TbPlayerPlay}
          title="No nodes ran"
          hint={run.status === 'running' ? 'The run is starting.' : 'It ended before its workflow started.'}
        />
      )}
      {chosen && <NodePanel key={chosen.place} run={run} line={chosen} />}
    </>
  );
}

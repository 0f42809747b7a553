import { Button, Group } from '@mantine/core';
import { TbFilterOff, TbPlayerPause, TbPlayerPlay } from 'react-icons/tb';
import { useEffect } from 'react';
import { Link } from 'react-router';
import { ApiError } from '@/shared/api/errors';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { useLiveRuns } from '@/shared/data/runs/live';
import { type RunFilters, useRuns } from '@/shared/data/runs/runs';
import { RunRow } from './RunRow';

interface RunListProps {
  filters: RunFilters;
  chosen: string;
  marked: readonly string[];
  isFollowing: boolean;
  addressOf: (change: Record<string, string | null>) => string;
  onMark: (id: string) => void;
  onLive: (isLive: boolean) => void;
}

const ROW_PX = 58;

/** The last runs, newest first; more are loaded when the end comes into sight. */
export function RunList({ filters, chosen, marked, isFollowing, addressOf, onMark, onLive }: RunListProps) {
  const list = useRuns(filters);
  const isOff = list.error instanceof ApiError && list.error.code === 'runs_off';
  const isLive = useLiveRuns(filters, isFollowing && !isOff);
  useEffect(() => onLive(isLive), [isLive, onLive]);

  if (isOff) return <RunsOff />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isPending) return <LoadingState label="Loading runs" />;
  if (!list.runs.length) return <NoRuns isNarrowed={Object.values(filters).some(Boolean)} />;
  const tellsUser = new Set(list.runs.map(run => run.user_id)).size > 1;
  return (
    <VirtualRows
      items={list.runs}
      rowKey={run => run.id}
      label="Runs, newest first"
      estimate={ROW_PX}
      onEndReached={() => {
        if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
      }}
    >
      {run => (
        <RunRow
          run={run}
          to={addressOf({ id: run.id, node: null, compare: null })}
          isChosen={run.id === chosen}
          isMarked={marked.includes(run.id)}
          tellsUser={tellsUser}
          onMark={() => onMark(run.id)}
        />
      )}
    </VirtualRows>
  );
}

function RunsOff() {
  return (
    <EmptyState
      Icon={TbPlayerPause}
      title="Runs are not recorded"
      hint={
        <>
          Recording is off. Set <code>runs.enabled</code> to <code>true</code> in the settings and restart the server.
        </>
      }
    />
  );
}

function NoRuns({ isNarrowed }: { isNarrowed: boolean }) {
  return isNarrowed ? (
    <EmptyState Icon={TbFilterOff} title="No matching runs" hint="Clear a filter to see more." />
  ) : (
    <EmptyState
      Icon={TbPlayerPlay}
      title="No runs yet"
      hint="Each chat request is recorded as a run, from the chat here and from connected apps."
    >
      <Group gap="xs">
        <Button size="xs" variant="default" component={Link} to="/">
          Go to chat
        </Button>
        <Button size="xs" variant="default" component={Link} to="/connect">
          Connect an app
        </Button>
      </Group>
    </EmptyState>
  );
}

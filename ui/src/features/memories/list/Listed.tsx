import { Button } from '@mantine/core';
import { TbFilterOff, TbTimelineEvent } from 'react-icons/tb';
import { useCallback, useMemo, useState } from 'react';
import { Link } from 'react-router';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { isByChange, useMemoryList } from '@/shared/data/memories/list';
import { conditionsOf, isNarrowed, type Place } from '../place';
import { TrySample } from '../sample/TrySample';
import { rowsOfList } from './rows';
import { ShowAll } from './ShowAll';
import { type ListParts, Shown } from './Shown';

/** The memories that meet the conditions of the address. */
export function Listed({ place, owner, onOpen, onView, onDelete }: ListParts) {
  const [now] = useState(() => Date.now());
  const list = useMemoryList(owner, conditionsOf(place, now), true);
  const { memories, total, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const by = isByChange(place.order) ? 'updated_at' : 'created_at';
  const rows = useMemo(() => rowsOfList(memories, place.view === 'timeline', by), [memories, place.view, by]);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  if (list.isPending) return <LoadingState label="Loading memories" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (total === 0) return <Nothing place={place} />;
  const told = `${total.toLocaleString()} ${total === 1 ? 'memory' : 'memories'}`;
  return (
    <Shown
      rows={rows}
      total={total}
      told={told}
      view={place.view === 'timeline' ? 'timeline' : 'table'}
      query={place.q}
      isWaiting={list.isPlaceholderData}
      owner={owner}
      openId={place.id}
      onOpen={onOpen}
      onView={onView}
      onDelete={onDelete}
      onEndReached={more}
    />
  );
}

function Nothing({ place }: { place: Place }) {
  if (isNarrowed(place) || place.q)
    return (
      <EmptyState Icon={TbFilterOff} title="No matches" hint="No memory matches all filters.">
        <ShowAll place={{ user: place.user, project: place.project }}>Show all</ShowAll>
      </EmptyState>
    );
  return (
    <EmptyState
      Icon={TbTimelineEvent}
      title="No memories yet"
      hint="Memories come from chats with Long Term Memory on, from the API, or from an import."
    >
      <Button size="xs" variant="default" component={Link} to="/">
        Go to chat
      </Button>
      <TrySample project={place.project} />
    </EmptyState>
  );
}

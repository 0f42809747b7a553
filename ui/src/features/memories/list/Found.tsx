import { Alert } from '@mantine/core';
import { TbSearch } from 'react-icons/tb';
import { useMemo, useState } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useMemorySearch } from '@/shared/data/memories/list';
import { conditionsOf, isNarrowed } from '../place';
import { isLikely, rowsOfSearch } from './rows';
import { ShowAll } from './ShowAll';
import { type ListParts, Shown } from './Shown';
import { stagesInWords } from './stages';

const DEGRADED: Record<string, string> = {
  vectors: 'The embedding model did not respond, so only words were compared.',
  vectors_pending: 'Some memories have no vector yet and were matched by words only.',
  links: 'Memories that share names with the question could not be searched for.',
  language: 'No model here supports the language of your search, so memories in other languages may be missing.',
};

/** What a search by meaning found, with why. */
export function Found({ place, owner, onOpen, onDelete }: ListParts) {
  const [now] = useState(() => Date.now());
  const search = useMemorySearch(owner, place.q, conditionsOf(place, now));
  const hits = search.data?.results;
  const rows = useMemo(() => rowsOfSearch(hits ?? []), [hits]);
  if (search.isPending) return <LoadingState label="Searching" />;
  if (search.isError) return <ErrorState error={search.error} onRetry={() => void search.refetch()} />;
  if (rows.length === 0)
    return isNarrowed(place) ? (
      <EmptyState Icon={TbSearch} title="Nothing found" hint="No memory matches your search and filters.">
        <ShowAll place={{ user: place.user, project: place.project, q: place.q }}>Search all</ShowAll>
      </EmptyState>
    ) : (
      <EmptyState
        Icon={TbSearch}
        title="Nothing found"
        hint="Try other words, or search by words instead of meaning."
      />
    );
  return (
    <>
      {search.data.degraded?.map(what => (
        <Alert key={what} color="orange" variant="light" m="xs" p="xs">
          {DEGRADED[what] ?? what}
        </Alert>
      ))}
      <Shown
        rows={rows}
        total={rows.length}
        told={search.isPlaceholderData ? 'Searching…' : inWords(rows.length, hits?.filter(isLikely).length ?? 0)}
        hint={stagesInWords(search.data.stages)}
        view="table"
        query={place.q}
        isWaiting={search.isPlaceholderData}
        owner={owner}
        openId={place.id}
        onOpen={onOpen}
        onDelete={onDelete}
        onEndReached={() => undefined}
      />
    </>
  );
}

function inWords(found: number, likely: number): string {
  if (likely === 0) return `No matches; ${found} less likely`;
  return likely === found
    ? `${found} found, best first`
    : `${likely} found, best first; ${found - likely} less likely`;
}

import { Center, CloseButton, Loader, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { TbSearch, TbTimelineEvent } from 'react-icons/tb';
import { EmptyState, ErrorState } from '@/shared/components/states';
import { useMemories, useMemorySearch } from '@/shared/data/memories/list';
import { useScope } from '@/shared/data/scope';
import classes from './memory.module.css';
import { MemoryRow } from './MemoryRow';
import { PanelFoot } from './PanelFoot';

const PAUSE_MS = 250;

/** The memories of the user in the project, newest first; a search, best first; how many there are. */
export function MemoryPanel() {
  const [typed, setTyped] = useState('');
  const [words] = useDebouncedValue(typed.trim(), PAUSE_MS);
  const scope = useScope();
  const newest = useMemories(scope);
  const found = useMemorySearch(scope, typed.trim() && words);
  const isSearching = typed.trim() !== '' && words !== '';
  const shown = isSearching ? found : newest;
  const memories = shown.data?.results ?? [];

  return (
    <div className={classes.panel}>
      <TextInput
        type="search"
        className={classes.search ?? ''}
        aria-label="Search memories"
        placeholder="Search by words or meaning"
        leftSection={<TbSearch size={16} aria-hidden />}
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
        rightSection={typed && <CloseButton size="sm" aria-label="Clear search" onClick={() => setTyped('')} />}
      />
      {/* a region that scrolls must be reachable by keyboard */}
      <div className={classes.scroller} tabIndex={0} role="region" aria-label="Memories" aria-busy={shown.isFetching}>
        {shown.isPending && (
          <Center mih="12rem" role="status" aria-label="Loading memories">
            <Loader size="sm" aria-hidden />
          </Center>
        )}
        {shown.isError && (
          <ErrorState error={shown.error} title="Could not load the memories" onRetry={() => void shown.refetch()} />
        )}
        {shown.data && !memories.length && (
          <EmptyState
            Icon={TbTimelineEvent}
            title={isSearching ? 'Nothing found' : 'No memories yet'}
            hint={
              isSearching ? 'No memory matches your search.' : 'What you say about yourself in chats appears here.'
            }
          />
        )}
        {memories.length > 0 && (
          <ul className={classes.rows}>
            {memories.map(memory => (
              <MemoryRow key={memory.id} memory={memory} />
            ))}
          </ul>
        )}
      </div>
      <PanelFoot shown={memories.length} total={newest.data?.total ?? 0} isSearching={isSearching} />
    </div>
  );
}

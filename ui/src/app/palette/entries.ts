import { useDebouncedValue } from '@mantine/hooks';
import { type IconType } from 'react-icons';
import { TbBrain, TbMessage } from 'react-icons/tb';
import { useConversations, useFoundTitles } from '@/shared/data/conversations/list';
import { useMemorySearch } from '@/shared/data/memories/list';
import { useScope } from '@/shared/data/scope';
import { useAllowedPages } from '../shell/pages';

/** One line of the palette: where it leads. */
export interface Entry {
  group: 'Pages' | 'Chats' | 'Memories';
  key: string;
  name: string;
  to: string;
  Icon: IconType;
}

const PAUSE_MS = 200;
const MOST_RECENT = 5;
const MOST_OF_A_GROUP = 6;

/** What fits the words: pages by their names, chats by titles or first words, memories by meaning. */
export function useEntries(typed: string): { entries: Entry[]; isSearching: boolean } {
  const words = typed.trim();
  const [settled] = useDebouncedValue(words, PAUSE_MS);
  const pages = useAllowedPages();
  const recent = useConversations();
  const titles = useFoundTitles(words && settled);
  const memories = useMemorySearch(useScope(), words && settled);
  const chats = words ? (titles.data ?? []) : recent.conversations.slice(0, MOST_RECENT);
  const known = words ? (memories.data?.results ?? []).filter(memory => memory.likely !== false) : [];
  return {
    entries: [
      ...pages
        .filter(page => page.name.toLowerCase().includes(words.toLowerCase()))
        .map(({ path, name, Icon }): Entry => ({ group: 'Pages', key: path, name, to: path, Icon })),
      ...chats.slice(0, MOST_OF_A_GROUP).map(({ id, title, preview }): Entry => ({
        group: 'Chats',
        key: `chat ${id}`,
        name: title || preview || id,
        to: `/?${new URLSearchParams({ conversation: id }).toString()}`,
        Icon: TbMessage,
      })),
      ...known.slice(0, MOST_OF_A_GROUP).map(({ id, memory }): Entry => ({
        group: 'Memories',
        key: `memory ${id}`,
        name: memory,
        to: `/memories?${new URLSearchParams({ id }).toString()}`,
        Icon: TbBrain,
      })),
    ],
    isSearching: words !== '' && (words !== settled || titles.isFetching || memories.isFetching),
  };
}

import { useDebouncedValue } from '@mantine/hooks';
import type { IconType } from 'react-icons';
import { TbActivity, TbBrain, TbGitFork, TbMessage } from 'react-icons/tb';
import { useNavigate } from 'react-router';
import { useMay } from '@/shared/data/access';
import { useConversations, useFoundTitles } from '@/shared/data/conversations/list';
import { useMemorySearch } from '@/shared/data/memories/list';
import { useFoundRuns } from '@/shared/data/runs/runs';
import { useScope } from '@/shared/data/scope';
import { useConfigTree } from '@/shared/data/workflows';
import { useAllowedPages } from '../shell/pages';
import { useActions } from './actions';
import { keysTo } from './keys';

/** One line of the palette, and what it does. */
export interface Entry {
  group: 'Actions' | 'Go to' | 'Chats' | 'Memories' | 'Workflows' | 'Runs';
  key: string;
  name: string;
  Icon: IconType;
  act: () => unknown;
  keys?: readonly string[];
}

/** A line that leads to an address. */
type Link = Omit<Entry, 'act'> & { to: string };

interface Found {
  entries: Entry[];
  isSearching: boolean;
}

const PAUSE_MS = 200;
const MOST_RECENT = 5;
const MOST_CHATS = 6;
const MOST_MEMORIES = 3;
const MOST_WORKFLOWS = 5;

/** What fits the words: actions and pages by their names, what is stored by titles, questions or meaning. */
export function useEntries(typed: string, onOpen: Parameters<typeof useActions>[0]): Found {
  const words = typed.trim();
  const [settled] = useDebouncedValue(words, PAUSE_MS);
  const navigate = useNavigate();
  const actions = useActions(onOpen);
  const pages = useAllowedPages();
  const stored = useStored(words, words && settled);
  const links: Link[] = [
    ...pages
      .filter(({ name }) => fits(name, words))
      .map(({ path, name, Icon, goKey }): Link => {
        return { group: 'Go to', key: path, name, Icon, to: path, keys: keysTo(goKey) };
      }),
    ...stored.links,
  ];
  return {
    entries: [
      ...actions
        .filter(({ name, also }) => fits(`${name} ${also}`, words))
        .map(({ name, Icon, act, keys = [] }): Entry => ({ group: 'Actions', key: name, name, Icon, act, keys })),
      ...links.map(({ to, ...line }): Entry => ({ ...line, act: () => navigate(to) })),
    ],
    isSearching: words !== '' && (words !== settled || stored.isFetching),
  };
}

/** Chats, memories, workflows and runs; of `words` that are `settled` where the server has to look. */
function useStored(words: string, settled: string): { links: Link[]; isFetching: boolean } {
  const recent = useConversations();
  const titles = useFoundTitles(settled);
  const memories = useMemorySearch(useScope(), settled);
  const runs = useFoundRuns(settled);
  const tree = useConfigTree({ enabled: useMay().admin && words !== '', staleTime: 60_000 });
  const isFetching = titles.isFetching || memories.isFetching || runs.isFetching;
  const chats = words ? (titles.data ?? []) : recent.conversations.slice(0, MOST_RECENT);
  const links = chats.slice(0, MOST_CHATS).map(({ id, title, preview }): Link => {
    const to = `/?${new URLSearchParams({ conversation: id }).toString()}`;
    return { group: 'Chats', key: `chat ${id}`, name: title || preview || id, to, Icon: TbMessage };
  });
  if (!words) return { links, isFetching };
  const likely = memories.data?.results.filter(memory => memory.likely !== false) ?? [];
  const workflows = tree.data?.files.filter(({ kind, path }) => kind === 'workflows' && fits(path, words)) ?? [];
  links.push(
    ...likely.slice(0, MOST_MEMORIES).map(({ id, memory }): Link => {
      const to = `/memories?${new URLSearchParams({ id }).toString()}`;
      return { group: 'Memories', key: `memory ${id}`, name: memory, to, Icon: TbBrain };
    }),
    ...workflows.slice(0, MOST_WORKFLOWS).map(({ path }): Link => {
      const to = `/workflows?${new URLSearchParams({ file: path }).toString()}`;
      return { group: 'Workflows', key: path, name: path.replace(/^Workflows\/|\.json$/g, ''), to, Icon: TbGitFork };
    }),
    ...(runs.data ?? []).map(({ id, question, workflow }): Link => {
      const to = `/runs?${new URLSearchParams({ id }).toString()}`;
      return { group: 'Runs', key: `run ${id}`, name: question || workflow || id, to, Icon: TbActivity };
    }),
  );
  return { links, isFetching };
}

/** Whether each of the words is the beginning of a word of the name. */
function fits(name: string, words: string): boolean {
  const known = split(name);
  return split(words).every(word => known.some(one => one.startsWith(word)));
}

const split = (text: string) =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

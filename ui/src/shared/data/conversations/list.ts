import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useResults } from '../pages';
import { inScope, type Scope, useScope } from '../scope';
import { conversationKeys as keys } from './keys';

export type Conversation = components['schemas']['ConversationAnswer'];
export type ConversationPage = components['schemas']['ConversationPage'];

const PAGE = 100;
const TITLE_MS = 700;
const MOST_FOUND = 20;
const MOST_PAGES = 20; // the server looks at some thousands of conversations for each

/** Newest activity first, page by page. */
export function useConversations() {
  const scope = useScope();
  const list = useInfiniteQuery({
    queryKey: keys.list(scope),
    queryFn: ({ pageParam, signal }) => page(scope, { limit: PAGE, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    refetchInterval: ({ state }) => titleInterval(state.data?.pages.flatMap(page => page.results)),
  });
  return { ...list, conversations: useResults(list.data) };
}

/** How long to wait before looking for titles that are being made; false where none is. */
export function titleInterval(conversations: readonly (Conversation | null)[] = []): number | false {
  return conversations.some(one => one?.title_pending) && TITLE_MS;
}

/** Conversations whose title, or first words where there is none, holds all of these words; newest activity first. */
export function useFoundTitles(words: string) {
  const scope = useScope();
  return useQuery({
    queryKey: [...keys.titles(scope), words],
    queryFn: async ({ signal }) => {
      const found: Conversation[] = [];
      let cursor: string | null = '';
      for (let pages = 0; cursor !== null && pages < MOST_PAGES && found.length < MOST_FOUND; pages += 1) {
        const answer: ConversationPage = await page(scope, { q: words, limit: MOST_FOUND, cursor }, signal);
        found.push(...answer.results);
        cursor = answer.next;
      }
      return found;
    },
    enabled: words !== '',
    placeholderData: keepPreviousData,
  });
}

const NO_TITLES: ReadonlyMap<string, string> = new Map();

/** The titles of the user's newest chats by their ids, or their first words where they have none. */
export function useChatTitles(scope: Scope): ReadonlyMap<string, string> {
  const { data = NO_TITLES } = useQuery({
    queryKey: [...keys.titles(scope), 'newest'],
    queryFn: async ({ signal }) => {
      const newest = await page(scope, { limit: PAGE, cursor: '' }, signal);
      return new Map(newest.results.map(({ id, title, preview }) => [id, title || preview || id]));
    },
  });
  return data;
}

interface Wanted {
  q?: string;
  limit: number;
  cursor: string;
}

function page(scope: Scope, { cursor, ...wanted }: Wanted, signal: AbortSignal): Promise<ConversationPage> {
  const query = { ...inScope(scope), ...wanted, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/conversations', { params: { query }, signal }));
}

import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { ApiError } from '@/shared/api/errors';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { useResults, withEach } from '../pages';
import { inScope, type Place, type Scope, useScope } from '../scope';
import { conversationKeys as keys } from './keys';

export type Message = components['schemas']['MessageAnswer'];
export type MessagePage = components['schemas']['MessagePage'];
export type Branch = components['schemas']['BranchAnswer'];

const PAGE = 60;
const BRANCHES = 200;
const LOOKED_AT = 500; // for the messages that a memory came from
const BESIDE = 2;

/** Where a page begins: around a message, or where another page ended; nothing for the end of the thread. */
interface From {
  around?: number;
  cursor?: string;
}

export function messagePage(place: Place, from: From = {}, signal?: AbortSignal, limit = PAGE): Promise<MessagePage> {
  const params = { path: { id: place.conversation }, query: { ...inScope(place), limit, ...from } };
  return unwrap(client.GET('/api/conversations/{id}/messages', { params, ...(signal && { signal }) }));
}

interface Way {
  /** A message, whichever branch it is on; 0 for the beginning of the thread, null for its end. */
  around: number | null;
  enabled?: boolean;
  /** For a message that is gone, the end of the thread is shown. */
  orEnd?: boolean;
}

/** A way through the conversation, from one page in both directions. */
export function useWay(id: string, { around, enabled = true, orEnd = false }: Way) {
  const place = { ...useScope(), conversation: id };
  const begin: From = around === null ? {} : { around };
  const way = useInfiniteQuery({
    queryKey: [...keys.ways(place), around, orEnd],
    enabled,
    initialPageParam: begin,
    queryFn: async ({ pageParam, signal }) => {
      try {
        return await messagePage(place, pageParam, signal);
      } catch (error) {
        const isGone = pageParam.around && error instanceof ApiError && error.code === 'message_not_found';
        if (orEnd && isGone) return messagePage(place, {}, signal);
        throw error;
      }
    },
    getPreviousPageParam: (first): From | null => (first.next === null ? null : { cursor: first.next }),
    getNextPageParam: (last): From | null => (last.newer === null ? null : { cursor: last.newer }),
    placeholderData: keepPreviousData,
  });
  return {
    ...way,
    messages: useResults(way.data),
    offset: way.data?.pages.find(each => each.results.length > 0)?.offset ?? null,
  };
}

/** Messages with what was said just before and after them; [] when they are further back than is looked at. */
export function useMessagesAround(scope: Scope, conversation: string, messageIds: number[]) {
  const place = { ...scope, conversation };
  return useQuery({
    queryKey: [...keys.beside(place), messageIds],
    queryFn: async ({ signal }) => {
      const { results } = await messagePage(place, {}, signal, LOOKED_AT);
      const wanted = new Set(messageIds);
      const first = results.findIndex(message => wanted.has(message.id));
      const last = results.findLastIndex(message => wanted.has(message.id));
      return first < 0 ? [] : results.slice(Math.max(0, first - BESIDE), last + BESIDE + 1);
    },
  });
}

/** Keeps a message in windows, or no longer. */
export function usePinMessage(id: string) {
  const place = { ...useScope(), conversation: id };
  const queries = useQueryClient();
  return useChange(
    ({ message_id, pinned }: { message_id: number; pinned: boolean }) =>
      unwrap(
        client.PATCH('/api/conversations/{id}/messages/{message_id}', {
          params: { path: { id, message_id }, query: inScope(place) },
          body: { pinned },
        }),
      ),
    [keys.window(place)],
    {
      onSuccess: changed => {
        const replaced = (message: Message) => (message.id === changed.id ? changed : message);
        queries.setQueriesData<InfiniteData<MessagePage>>(
          { queryKey: keys.ways(place) },
          known => known && withEach(known, replaced),
        );
      },
    },
  );
}

/** The tree in short, each branch behind the one that it hangs on. */
export function useBranches(id: string) {
  const place = { ...useScope(), conversation: id };
  return useInfiniteQuery({
    queryKey: keys.branches(place),
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => {
      const query = { ...inScope(place), limit: BRANCHES, ...(pageParam && { cursor: pageParam }) };
      return unwrap(client.GET('/api/conversations/{id}/branches', { params: { path: { id }, query }, signal }));
    },
    getNextPageParam: page => page.next,
  });
}

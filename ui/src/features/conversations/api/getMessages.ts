import { type InfiniteData, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ApiError, client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { keys, pathSerializer, type Scope, useScope } from './scope';

export type Message = components['schemas']['MessageAnswer'];
export type MessagePage = components['schemas']['MessagePage'];

/** Of whatever is loaded of a conversation's messages. */
export const messagesKey = (scope: Scope, id: string) => [...keys.of(scope, id), 'messages'] as const;

const PAGE = 60;

interface Place {
  around?: number;
  cursor?: string;
}

/**
 * A way through the conversation, from a page in both directions: around a message, whichever branch it is on, from the
 * beginning of the thread (0), or from its end (null).
 */
export function useWay(id: string, around: number | null) {
  const scope = useScope();
  const begin: Place = around === null ? {} : { around };
  const way = useInfiniteQuery({
    queryKey: [...messagesKey(scope, id), around],
    initialPageParam: begin,
    queryFn: ({ pageParam, signal }) => page(scope, id, pageParam, signal),
    getPreviousPageParam: (first): Place | null => (first.next === null ? null : { cursor: first.next }),
    getNextPageParam: (last): Place | null => (last.newer === null ? null : { cursor: last.newer }),
    placeholderData: keepPreviousData,
  });
  const { data } = way;
  const messages = useMemo(() => messagesOf(data), [data]);
  return { ...way, messages, offset: data?.pages.find(each => each.results.length > 0)?.offset ?? null };
}

/** For a message that is gone, the end of the thread. */
async function page(scope: Scope, id: string, place: Place, signal: AbortSignal): Promise<MessagePage> {
  try {
    return await read(scope, id, place, signal);
  } catch (error) {
    if (place.around && error instanceof ApiError && error.code === 'message_not_found') {
      return read(scope, id, {}, signal);
    }
    throw error;
  }
}

function read(scope: Scope, id: string, place: Place, signal: AbortSignal) {
  const query = { ...scope, ...place, limit: PAGE };
  const params = { path: { id }, query };
  return unwrap(client.GET('/api/conversations/{id}/messages', { params, pathSerializer, signal }));
}

function messagesOf(data: InfiniteData<MessagePage> | undefined): Message[] {
  return data?.pages.flatMap(each => each.results) ?? [];
}

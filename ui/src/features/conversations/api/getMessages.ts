import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { keys, pathSerializer, type Scope, useScope } from './scope';

export type Message = components['schemas']['MessageAnswer'];
export type MessagePage = components['schemas']['MessagePage'];

export const messagesKey = (scope: Scope, id: string) => [...keys.of(scope, id), 'messages'] as const;

const PAGE = 1000;

/** The messages of all branches; pages follow each other by themselves until `isWhole`. */
export function useMessages(id: string) {
  const scope = useScope();
  const found = useInfiniteQuery({
    queryKey: messagesKey(scope, id),
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        client.GET('/api/conversations/{id}/messages', {
          params: {
            path: { id },
            query: { ...scope, view: 'tree', limit: PAGE, ...(pageParam && { cursor: pageParam }) },
          },
          pathSerializer,
          signal,
        }),
      ),
    getNextPageParam: page => page.next,
  });
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, data } = found;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const messages = useMemo(() => data?.pages.flatMap(page => page.results) ?? [], [data]);
  return { messages, isWhole: found.isSuccess && !hasNextPage, error: found.error, refetch: found.refetch };
}

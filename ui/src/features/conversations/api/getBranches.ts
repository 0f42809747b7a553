import { useInfiniteQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { keys, pathSerializer, useScope } from './scope';

export type Branch = components['schemas']['BranchAnswer'];

const PAGE = 200;

/** The tree in short, each branch behind the one that it hangs on. */
export function useBranches(id: string) {
  const scope = useScope();
  return useInfiniteQuery({
    queryKey: [...keys.of(scope, id), 'branches'],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        client.GET('/api/conversations/{id}/branches', {
          params: { path: { id }, query: { ...scope, limit: PAGE, ...(pageParam && { cursor: pageParam }) } },
          pathSerializer,
          signal,
        }),
      ),
    getNextPageParam: page => page.next,
  });
}

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { MEMORIES, type Owner } from './keys';

/** What the list is narrowed by; "" for nothing. */
export interface Conditions {
  kind: '' | 'fact' | 'message';
  since: string;
  source: string;
  words: string;
  hidden: 'without' | 'with' | 'only';
  order: 'created_desc' | 'created_asc' | 'updated_desc' | 'updated_asc';
}

/** Whether times are those of the last change, not of the first. */
export const isByChange = (order: Conditions['order']) => order.startsWith('updated');

const PAGE = 500;

/** The memories that meet the conditions, page by page. */
export function useMemoryList({ user, project }: Owner, conditions: Conditions, enabled: boolean) {
  const { kind, since, source, words, hidden, order } = conditions;
  const list = useInfiniteQuery({
    queryKey: [...MEMORIES, 'list', user, project, conditions],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        client.GET('/api/memories', {
          params: {
            query: {
              user_id: user,
              project,
              hidden,
              order,
              limit: PAGE,
              ...(kind && { kind }),
              ...(since && { since }),
              ...(source && { source }),
              ...(words && { q: words }),
              ...(pageParam && { cursor: pageParam }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    placeholderData: keepPreviousData,
    enabled,
  });
  return {
    ...list,
    memories: list.data?.pages.flatMap(page => page.results) ?? [],
    total: list.data?.pages[0]?.total ?? 0,
  };
}

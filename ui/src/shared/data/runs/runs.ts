import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components, paths } from '@/shared/api/schema';
import { useResults } from '../pages';
import { runKeys as keys } from './keys';

export type RunListed = components['schemas']['RunSummary'];
export type RunStatus = RunListed['status'];

/** Which runs are listed; "" narrows nothing. */
export interface RunFilters {
  /** Words of the question. */
  q: string;
  status: RunStatus | '';
  workflow: string;
  conversation: string;
  user: string;
  error: string;
  since: string;
}

const PAGE = 100;

type Query = paths['/api/runs']['get']['parameters']['query'];

const pageOf = (query: Query) => unwrap(client.GET('/api/runs', { params: { query } }));

/** Newest first, page by page. */
export function useRuns(filters: RunFilters) {
  const list = useInfiniteQuery({
    queryKey: keys.list(filters),
    queryFn: ({ pageParam }) => {
      const query = { limit: PAGE, ...(pageParam && { before: pageParam }), ...given(filters) };
      return pageOf(query);
    },
    initialPageParam: '',
    getNextPageParam: page => page.next,
    placeholderData: keepPreviousData,
  });
  return { ...list, runs: useResults(list.data) };
}

function given({ status, ...texts }: RunFilters) {
  const filled = Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim()));
  return status ? { status, ...filled } : filled;
}

const FEW_FOUND = 5;

/** The newest runs whose question has these words. */
export function useFoundRuns(words: string) {
  return useQuery({
    queryKey: keys.found(words),
    queryFn: async () => (await pageOf({ limit: FEW_FOUND, q: words })).results,
    placeholderData: keepPreviousData,
    enabled: words !== '',
  });
}

/** The runs of a conversation that failed, newest first. */
export function useFailedRuns(conversation: string, enabled: boolean) {
  return useQuery({
    queryKey: keys.failed(conversation),
    queryFn: async () => {
      const query = { limit: PAGE, status: 'failed' as const, conversation };
      return (await pageOf(query)).results;
    },
    enabled,
  });
}

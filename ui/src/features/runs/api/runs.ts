import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type RunListed = components['schemas']['RunSummary'];
export type RunStatus = RunListed['status'];

/** Which runs are listed; "" narrows nothing. */
export interface RunFilters {
  status: RunStatus | '';
  workflow: string;
  conversation: string;
  user: string;
  error: string;
  since: string;
}

/** What every list of runs is kept under. */
export const RUNS = ['runs', 'list'] as const;

const PAGE = 100;

/** Newest first, page by page. */
export function useRuns(filters: RunFilters) {
  const list = useInfiniteQuery({
    queryKey: [...RUNS, filters],
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET('/api/runs', {
          params: { query: { limit: PAGE, ...(pageParam && { before: pageParam }), ...given(filters) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    placeholderData: keepPreviousData,
  });
  return { ...list, runs: list.data?.pages.flatMap(page => page.results) ?? [] };
}

function given({ status, ...texts }: RunFilters) {
  const filled = Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim()));
  return status ? { status, ...filled } : filled;
}

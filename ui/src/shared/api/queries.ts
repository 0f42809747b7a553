import {
  focusManager,
  type InvalidateOptions,
  type InvalidateQueryFilters,
  QueryClient,
  type QueryKey,
} from '@tanstack/react-query';
import { ApiError } from './errors';

const TRIES = 2;

// windows beside each other are both visible all the time: the one that is turned to looks again
focusManager.setEventListener(notify => {
  const look = () => notify();
  window.addEventListener('visibilitychange', look);
  window.addEventListener('focus', look);
  return () => {
    window.removeEventListener('visibilitychange', look);
    window.removeEventListener('focus', look);
  };
});

/** What is asked for is fresh for some seconds; only what may pass is tried again. */
export function newQueryClient(): QueryClient {
  return new Queries({
    defaultOptions: {
      queries: {
        networkMode: 'always', // without a network a server on this machine is still there, and others fail at once
        staleTime: 5_000,
        retry: (failures, error) => failures < TRIES && error instanceof ApiError && mayPass(error.status),
        refetchOnWindowFocus: true,
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}

/**
 * The library goes on with a first answer that is on its way, also when its query becomes invalid meanwhile; but that
 * answer may be older than the change. Here such a query is asked once more.
 */
class Queries extends QueryClient {
  override async invalidateQueries<TQueryKey extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<TQueryKey>,
    options?: InvalidateOptions,
  ): Promise<void> {
    const first = new Set(
      this.getQueryCache()
        .findAll({ ...filters, fetchStatus: 'fetching' })
        .filter(({ state }) => state.data === undefined),
    );
    await super.invalidateQueries(filters, options);
    if (first.size) await super.invalidateQueries({ predicate: query => first.has(query) }, options);
  }
}

function mayPass(status: number): boolean {
  return status === 0 || status === 429 || status >= 502;
}

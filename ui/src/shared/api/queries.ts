import { focusManager, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client';

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
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failures, error) => failures < TRIES && error instanceof ApiError && mayPass(error.status),
        refetchOnWindowFocus: true,
      },
      mutations: { retry: false },
    },
  });
}

function mayPass(status: number): boolean {
  return status === 0 || status === 429 || status >= 502;
}

import { useQuery } from '@tanstack/react-query';
import { ApiError, client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type RunShort = components['schemas']['RunShort'];

const ASK_AGAIN_MS = 1_500;

/** What a run did, in short; null for one that is not kept any longer. Asked again while it goes on. */
export function useRunSummary(runId: string | null, { enabled = true } = {}) {
  return useQuery({
    queryKey: ['run-summary', runId],
    queryFn: () => summary(runId ?? ''),
    enabled: enabled && !!runId,
    staleTime: query => (query.state.data?.status === 'running' ? 0 : Infinity),
    refetchInterval: query => (query.state.data?.status === 'running' ? ASK_AGAIN_MS : false),
  });
}

async function summary(runId: string): Promise<RunShort | null> {
  try {
    return await unwrap(client.GET('/api/runs/{run_id}/summary', { params: { path: { run_id: runId } } }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type RunWhole = components['schemas']['RunTrace'];
export type RunNode = components['schemas']['NodeTrace'];

const ASK_AGAIN_MS = 1_000;

/** What a run did, node by node; asked again as long as it goes on. */
export function useTrialRun(runId: string) {
  return useQuery({
    queryKey: ['workflows', 'run', runId],
    queryFn: () => unwrap(client.GET('/api/runs/{run_id}', { params: { path: { run_id: runId } } })),
    enabled: runId !== '',
    refetchInterval: query => (query.state.data?.status === 'running' ? ASK_AGAIN_MS : false),
  });
}

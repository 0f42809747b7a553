import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type RunWhole = components['schemas']['RunWhole'];
export type RunWorkflow = components['schemas']['RunWorkflow'];
export type RunNode = components['schemas']['RunNode'];
export type PromptMessage = components['schemas']['RunPromptMessage'];
export type RunVariable = components['schemas']['RunVariable'];

const EVERY_MS = 1000;

/** One run with all of its nodes; of one under way its state is asked for every second. */
export function useRun(id: string) {
  return useQuery({
    queryKey: ['runs', 'run', id],
    queryFn: () => unwrap(client.GET('/api/runs/{run_id}', { params: { path: { run_id: id } } })),
    refetchInterval: query => (query.state.data?.status === 'running' ? EVERY_MS : false),
    staleTime: query => (query.state.data?.status === 'running' ? 0 : 60_000),
  });
}

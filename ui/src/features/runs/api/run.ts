import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type RunWhole = components['schemas']['RunTrace'];
export type RunWorkflow = components['schemas']['WorkflowTrace'];
export type RunNode = components['schemas']['NodeTrace'];
export type PromptMessage = components['schemas']['TracedMessage'];
export type RunVariable = components['schemas']['FilledVariable'];

/** What every whole run is kept under, behind it its id. */
export const RUN = ['runs', 'run'] as const;

const EVERY_MS = 1000;
const EVERY_FOLLOWED_MS = 15_000; // a feed that is slow to be read leaves events out

/**
 * One run with all of its nodes. Of one under way the feed tells when it has changed; where `isFollowed` is false, its
 * state is asked for every second.
 */
export function useRun(id: string, isFollowed: boolean) {
  const everyMs = isFollowed ? EVERY_FOLLOWED_MS : EVERY_MS;
  return useQuery({
    queryKey: [...RUN, id],
    queryFn: () => unwrap(client.GET('/api/runs/{run_id}', { params: { path: { run_id: id } } })),
    refetchInterval: query => (query.state.data?.status === 'running' ? everyMs : false),
    staleTime: query => (query.state.data?.status === 'running' ? 0 : 60_000),
  });
}

import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type RunMemories = components['schemas']['RunMemories'];
export type Remembering = components['schemas']['RunRemembering'];

const EVERY_MS = 2000;
const isOpen = (written: Remembering) => written.state === 'waiting' || written.state === 'running';

/** What a run wrote to memory, and what is learned from it behind the answer: asked for again until that is done. */
export function useRunMemories(id: string, isWanted: boolean) {
  return useQuery({
    queryKey: ['runs', 'memories', id],
    queryFn: () => unwrap(client.GET('/api/runs/{run_id}/memories', { params: { path: { run_id: id } } })),
    enabled: isWanted,
    refetchInterval: query => (query.state.data?.written.some(isOpen) ? EVERY_MS : false),
  });
}

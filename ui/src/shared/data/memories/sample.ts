import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useChange } from '../change';

const SAMPLE = ['sample'];
// a user comes or goes with all that is known of it
const EVERYTHING: readonly string[] = [];

export const SAMPLE_USER = 'sample';

/** Whether the sample memory is in a project: not asked before it is `wanted`. */
export function useSampleState(project: string, wanted: boolean) {
  return useQuery({
    queryKey: [...SAMPLE, project],
    queryFn: ({ signal }) => unwrap(client.GET('/api/sample', { params: { query: { project } }, signal })),
    enabled: wanted,
  });
}

/** Stores the sample memory, of a user of its own. */
export function useStoreSample(project: string) {
  return useChange(() => unwrap(client.POST('/api/sample', { params: { query: { project } } })), [EVERYTHING]);
}

/** Removes the sample memory with its chats, for good. */
export function useRemoveSample(project: string) {
  return useChange(() => unwrap(client.DELETE('/api/sample', { params: { query: { project } } })), [EVERYTHING]);
}

import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useSettings } from '@/shared/settings/settings';

export type Memory = components['schemas']['MemoryRecord'];

/** What lists of memories are kept under: invalidate it when something was learned, changed or forgotten. */
export const MEMORIES = ['memories'] as const;

export const MOST_LISTED = 100;

/** The newest memories of the user in the project; asked for anew by whoever begins to show them. */
export function useMemories() {
  const { user, project } = useSettings();
  return useQuery({
    queryKey: [...MEMORIES, 'newest', user, project],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/memories/{user_id}', {
          params: { path: { user_id: user }, query: { project, limit: MOST_LISTED } },
          signal,
        }),
      ),
    refetchOnMount: 'always',
  });
}

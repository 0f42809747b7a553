import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { MEMORIES } from './memories';

/** What happened to a memory, oldest first. */
export function useMemoryHistory(id: string) {
  const { user, project } = useSettings();
  return useQuery({
    queryKey: [...MEMORIES, 'history', user, project, id],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/memories/{memory_id}/history', {
          params: { path: { memory_id: id }, query: { user_id: user, project } },
          signal,
        }),
      ),
  });
}

import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { MEMORIES, type Owner } from './keys';

/** One memory, also a deleted one, with its sources and its history. */
export function useMemoryDetails({ user, project }: Owner, id: string) {
  return useQuery({
    queryKey: [...MEMORIES, 'details', user, project, id],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/memories/{memory_id}/details', {
          params: { path: { memory_id: id }, query: { user_id: user, project } },
          signal,
        }),
      ),
  });
}

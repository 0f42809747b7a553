import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { MEMORIES } from './keys';

/** Projects with the users that have memories in them. */
export function useProjects() {
  return useQuery({
    queryKey: [...MEMORIES, 'projects'],
    queryFn: async () => (await unwrap(client.GET('/api/projects'))).results,
    staleTime: 30_000,
  });
}

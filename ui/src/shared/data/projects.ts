import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';

export const projectKeys = { all: ['projects'] as const };

/** The projects that hold anything, with their users. */
export function useProjects() {
  return useQuery({
    queryKey: projectKeys.all,
    queryFn: async () => (await unwrap(client.GET('/api/projects'))).results,
    staleTime: 30_000,
  });
}

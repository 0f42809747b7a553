import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useMay } from './access';

export const projectKeys = { all: ['projects'] as const };

/** The projects that hold anything, with their users. */
export function useProjects() {
  return useQuery({
    queryKey: projectKeys.all,
    queryFn: async () => (await unwrap(client.GET('/api/projects'))).results,
    enabled: useMay().read,
    staleTime: 30_000,
  });
}

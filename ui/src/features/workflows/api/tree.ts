import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type ConfigOverview = components['schemas']['ConfigOverview'];
export type ConfigFile = components['schemas']['ConfigFile'];
export type ConfigUser = components['schemas']['ConfigUser'];
export type FileKind = ConfigFile['kind'];

/** All files and users of the tree that is served. */
export function useConfigTree() {
  return useQuery({ queryKey: ['workflows', 'tree'], queryFn: () => unwrap(client.GET('/api/workflows')) });
}

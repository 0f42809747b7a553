import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type ConfigText = components['schemas']['ConfigText'];

/** The text of one file, its secrets covered. */
export function useConfigText(path: string) {
  return useQuery({
    queryKey: ['workflows', 'file', path],
    queryFn: () => unwrap(client.GET('/api/workflows/files/{path}', { params: { path: { path } } })),
  });
}

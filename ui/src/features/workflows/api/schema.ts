import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { FileKind } from './tree';

/** The JSON Schema of a kind of file; none for files that have no shape of their own. */
export function useConfigSchema(kind: FileKind) {
  return useQuery({
    queryKey: ['workflows', 'schema', kind],
    queryFn: () => unwrap(client.GET('/api/workflows/schema/{kind}', { params: { path: { kind } } })),
    enabled: kind !== 'other',
    staleTime: Infinity,
  });
}

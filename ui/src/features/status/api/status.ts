import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type Status = components['schemas']['Status'];
export type Endpoint = Status['endpoints'][number];
export type Health = components['schemas']['Remark']['state'];

export const STATUS = ['status'];
const AGAIN_MS = 3_000;

/** How the server is; asked again while the page is open. */
export function useStatus() {
  return useQuery({
    queryKey: STATUS,
    queryFn: () => unwrap(client.GET('/api/status')),
    refetchInterval: AGAIN_MS,
    notifyOnChangeProps: 'all', // times go on while nothing changes
  });
}

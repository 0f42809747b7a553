import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type ClientSeen = components['schemas']['ClientSeen'];
export type ClientKind = ClientSeen['kind'];

const AGAIN_MS = 2_000;

/** Which kinds of clients have chatted since the server was started; asked again while the page is open. */
export function useClients() {
  return useQuery({
    queryKey: ['clients'],
    queryFn: () => unwrap(client.GET('/api/clients')),
    refetchInterval: AGAIN_MS,
    notifyOnChangeProps: 'all', // "3 minutes ago" goes on while nobody calls
  });
}

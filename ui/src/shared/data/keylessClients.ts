import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type KeylessClient = components['schemas']['KeylessClient'];

/** The kinds of clients that called without a key within the last 7 days, latest first. */
export function useKeylessClients() {
  return useQuery({
    queryKey: ['keylessClients'],
    queryFn: async () => (await unwrap(client.GET('/api/auth/clients'))).results,
  });
}

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from './change';
import { useResults } from './pages';

export type ApiKey = components['schemas']['KeyRecord'];
export type NewKey = components['schemas']['NewKey'];
export type WantedKey = components['schemas']['KeyBody'];
export type Role = ApiKey['role'];

const KEYS = ['keys'];
const TENANTS = ['keys', 'tenants'];
const PAGE = 100;

/** The keys that the caller manages, oldest first, page by page. */
export function useApiKeys() {
  const list = useInfiniteQuery({
    queryKey: [...KEYS, 'list'],
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET('/api/keys', { params: { query: { limit: PAGE, ...(pageParam && { cursor: pageParam }) } } }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  });
  return { ...list, keys: useResults(list.data) };
}

/** Makes a key; its text is in the answer and nowhere else. */
export function useMakeKey() {
  return useChange((body: WantedKey) => unwrap(client.POST('/api/keys', { body })), [KEYS]);
}

/** Makes a key in place of another, which goes on for some hours. */
export function useRotateKey() {
  return useChange(
    ({ id, hours }: { id: string; hours: number }) =>
      unwrap(
        client.POST('/api/keys/{key_id}/rotate', {
          params: { path: { key_id: id } },
          body: { overlap_h: hours },
        }),
      ),
    [KEYS],
  );
}

/** Ends a key at once. */
export function useRevokeKey() {
  return useChange(
    (id: string) => unwrap(client.DELETE('/api/keys/{key_id}', { params: { path: { key_id: id } } })),
    [KEYS],
  );
}

export type Tenant = components['schemas']['TenantRecord'];

/** Adds a tenant, suspends one, or lets it go on. */
export function usePutTenant() {
  return useChange(
    (body: { name: string; suspended: boolean }) => unwrap(client.PUT('/api/tenants', { body })),
    [KEYS],
  );
}

/** The tenants that the caller may make keys for. */
export function useTenants() {
  return useQuery({
    queryKey: TENANTS,
    queryFn: async () => (await unwrap(client.GET('/api/tenants'))).results,
  });
}

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from './change';
import { useResults } from './pages';
import type { Said } from './retention';

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

/** Adds a tenant, suspends one, lets it go on, or says for how long it keeps things. */
export function usePutTenant() {
  return useChange(
    (body: { name: string; suspended: boolean; retention?: Said }) => unwrap(client.PUT('/api/tenants', { body })),
    [KEYS],
  );
}

const tenants = { queryKey: TENANTS, queryFn: () => unwrap(client.GET('/api/tenants')) };

/** The tenants that the caller may make keys for. */
export function useTenants() {
  return useQuery({ ...tenants, select: ({ results }) => results });
}

/** The retention of tenants that say nothing of it. */
export function useRetentionOfSettings(): Said {
  return useQuery({ ...tenants, select: ({ retention }) => retention }).data ?? {};
}

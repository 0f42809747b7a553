import { useInfiniteQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useResults } from './pages';

export type AuditEntry = components['schemas']['AuditRecord'];

/** The audit log, newest first, page by page; `action` of "" for all. */
export function useAuditLog(action: string) {
  const log = useInfiniteQuery({
    queryKey: ['audit', action],
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET('/api/audit', {
          params: { query: { ...(action && { action }), ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  });
  return { ...log, entries: useResults(log.data) };
}

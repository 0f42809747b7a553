import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useResults } from './pages';

export type AuditEntry = components['schemas']['AuditRecord'];

/** What entries are shown of; "" for all. `day` is that in UTC, as 2026-03-01. */
export interface AuditFilter {
  action: string;
  actor: string;
  day: string;
}

const PAGE = 100;

/** The entries, newest first, page by page. An act that has its result is the entry with that alone. */
export function useAudit({ action, actor, day }: AuditFilter) {
  const only = { ...(action && { action }), ...(actor && { actor }), ...(day && { day }) };
  const list = useInfiniteQuery({
    queryKey: ['audit', action, actor, day],
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET('/api/audit', {
          params: { query: { limit: PAGE, ...only, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    placeholderData: keepPreviousData,
  });
  const all = useResults(list.data);
  const people = useMemo(() => namesOf(list.data?.pages ?? []), [list.data]);
  return { ...list, entries: useMemo(() => withoutEnded(all), [all]), people };
}

/** The names of people by their ids: the log itself holds ids alone. */
const namesOf = (pages: readonly components['schemas']['AuditPage'][]) =>
  new Map(pages.flatMap(page => Object.entries(page.people)));

/** Without the beginnings of acts whose result stands before them, as newer entries do. */
export function withoutEnded(entries: readonly AuditEntry[]): AuditEntry[] {
  const ended = new Set(entries.map(entry => entry.of));
  return entries.filter(entry => !ended.has(entry.number));
}

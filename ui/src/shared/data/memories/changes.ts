import { useInfiniteQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { useResults } from '../pages';
import { inScope, type Scope } from '../scope';
import { memoryKeys as keys, MEMORIES_CHANGED } from './keys';

export type LoggedChange = components['schemas']['LoggedChangeRecord'];
export type ChangedRow = components['schemas']['ChangedRow'];

const PAGE = 20;

export function changesPage(scope: Scope, part: { limit: number; cursor?: string }, signal: AbortSignal) {
  return unwrap(client.GET('/api/memories/changes', { params: { query: { ...inScope(scope), ...part } }, signal }));
}

/** What changed in the user's memories, newest first, page by page. */
export function useChanges(scope: Scope) {
  const log = useInfiniteQuery({
    queryKey: keys.changes(scope),
    queryFn: ({ pageParam, signal }) =>
      changesPage(scope, { limit: PAGE, ...(pageParam && { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  });
  return { ...log, changes: useResults(log.data) };
}

/** Undoes a change. The undo is a change too, and can be undone. */
export function useUndo(scope: Scope) {
  return useChange((id: string) => undone(scope, id), MEMORIES_CHANGED);
}

export function undone(scope: Scope, change_id: string) {
  const params = { path: { change_id }, query: inScope(scope) };
  return unwrap(client.POST('/api/memories/changes/{change_id}/undo', { params }));
}

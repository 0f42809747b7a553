import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { inScope, type Scope } from '../scope';
import { memoryKeys as keys } from './keys';

export type HistoryEvent = components['schemas']['HistoryEvent'];
export type Source = components['schemas']['Source'];
export type DuplicateGroup = components['schemas']['DuplicateGroup'];

/** One memory, also a deleted one, with its sources and its history. */
export function useMemoryDetails(scope: Scope, id: string) {
  const params = { path: { memory_id: id }, query: inScope(scope) };
  return useQuery({
    queryKey: keys.details(scope, id),
    queryFn: ({ signal }) => unwrap(client.GET('/api/memories/{memory_id}/details', { params, signal })),
  });
}

/** What happened to a memory, oldest first. */
export function useMemoryHistory(scope: Scope, id: string) {
  const params = { path: { memory_id: id }, query: inScope(scope) };
  return useQuery({
    queryKey: keys.history(scope, id),
    queryFn: ({ signal }) => unwrap(client.GET('/api/memories/{memory_id}/history', { params, signal })),
  });
}

/** The runs that read a memory, newest first. */
export function useRecalls(scope: Scope, id: string) {
  const params = { path: { memory_id: id }, query: inScope(scope) };
  return useQuery({
    queryKey: [...keys.details(scope, id), 'recalls'],
    queryFn: ({ signal }) => unwrap(client.GET('/api/memories/{memory_id}/recalls', { params, signal })),
  });
}

/** Groups of facts that say nearly the same. It takes the server a second or two for many. */
export function useDuplicates(scope: Scope) {
  return useQuery({
    queryKey: keys.duplicates(scope),
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/memories/duplicates', { params: { query: inScope(scope) }, signal })),
  });
}

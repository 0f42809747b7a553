import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { keys, pathSerializer, useScope } from './scope';

export type NodeMemory = components['schemas']['NodeMemoryAnswer'];
export type NodeRecord = components['schemas']['NodeRecordAnswer'];

/** What each node of a workflow remembers of the conversation. */
export function useNodeMemories(id: string) {
  const scope = useScope();
  return useQuery({
    queryKey: [...keys.of(scope, id), 'nodes'],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/conversations/{id}/node-memory', {
          params: { path: { id }, query: scope },
          pathSerializer,
          signal,
        }),
      ),
  });
}

/** All records of one. */
export function useNodeRecords(id: string, memory: string) {
  const scope = useScope();
  return useQuery({
    queryKey: [...keys.of(scope, id), 'nodes', memory],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/conversations/{id}/node-memory/{memory}', {
          params: { path: { id, memory }, query: scope },
          pathSerializer,
          signal,
        }),
      ),
  });
}

/** Clears one, or with null all of the conversation. */
export function useClearNodeMemory(id: string) {
  const scope = useScope();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (memory: string | null) =>
      memory === null
        ? unwrap(
            client.DELETE('/api/conversations/{id}/node-memory', {
              params: { path: { id }, query: scope },
              pathSerializer,
            }),
          )
        : unwrap(
            client.DELETE('/api/conversations/{id}/node-memory/{memory}', {
              params: { path: { id, memory }, query: scope },
              pathSerializer,
            }),
          ),
    onSettled: () => queries.invalidateQueries({ queryKey: [...keys.of(scope, id), 'nodes'] }),
  });
}

import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { inScope, useScope } from '../scope';
import { conversationKeys as keys } from './keys';

export type NodeMemory = components['schemas']['NodeMemoryAnswer'];
export type NodeRecord = components['schemas']['NodeRecordAnswer'];

/** What each node of a workflow remembers of the conversation. */
export function useNodeMemories(id: string) {
  const place = { ...useScope(), conversation: id };
  const params = { path: { id }, query: inScope(place) };
  return useQuery({
    queryKey: keys.nodes(place),
    queryFn: ({ signal }) => unwrap(client.GET('/api/conversations/{id}/node-memory', { params, signal })),
  });
}

/** All records of one. */
export function useNodeRecords(id: string, memory: string) {
  const place = { ...useScope(), conversation: id };
  const params = { path: { id, memory }, query: inScope(place) };
  return useQuery({
    queryKey: [...keys.nodes(place), memory],
    queryFn: ({ signal }) => unwrap(client.GET('/api/conversations/{id}/node-memory/{memory}', { params, signal })),
  });
}

/** Clears one, or with null all of the conversation. */
export function useClearNodeMemory(id: string) {
  const place = { ...useScope(), conversation: id };
  const query = inScope(place);
  return useChange(
    (memory: string | null) =>
      memory === null
        ? unwrap(client.DELETE('/api/conversations/{id}/node-memory', { params: { path: { id }, query } }))
        : unwrap(
            client.DELETE('/api/conversations/{id}/node-memory/{memory}', {
              params: { path: { id, memory }, query },
            }),
          ),
    [keys.nodes(place)],
  );
}

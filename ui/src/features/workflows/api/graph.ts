import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type WorkflowGraph = components['schemas']['WorkflowGraph'];
export type GraphNode = components['schemas']['GraphNode'];
export type GraphCall = components['schemas']['GraphCall'];

/** The nodes of a workflow, names looked up as `user` would; "" for whoever it belongs to. */
export function useWorkflowGraph(path: string, user: string) {
  return useQuery({
    queryKey: ['workflows', 'graph', path, user],
    queryFn: () => unwrap(client.GET('/api/workflows/graph', { params: { query: { path, ...(user && { user }) } } })),
  });
}

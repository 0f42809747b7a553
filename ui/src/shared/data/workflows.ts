import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type ConfigOverview = components['schemas']['ConfigOverview'];
export type ConfigFile = components['schemas']['ConfigFile'];
export type ConfigUser = components['schemas']['ConfigUser'];
export type ConfigText = components['schemas']['ConfigText'];
export type ConfigProblems = components['schemas']['ConfigProblems'];
export type ConfigProblem = components['schemas']['Problem'];
export type FileKind = ConfigFile['kind'];
export type WorkflowGraph = components['schemas']['WorkflowGraph'];
export type GraphNode = components['schemas']['GraphNode'];
export type GraphCall = components['schemas']['GraphCall'];

const keys = {
  tree: ['workflows', 'tree'],
  problems: ['workflows', 'problems'],
  file: (path: string) => ['workflows', 'file', path],
  graph: (path: string, user: string) => ['workflows', 'graph', path, user],
  schema: (kind: FileKind) => ['workflows', 'schema', kind],
};

/** All files and users of the tree that is served. */
export function useConfigTree(freshness: { staleTime?: number } = {}) {
  return useQuery({ queryKey: keys.tree, queryFn: () => unwrap(client.GET('/api/workflows')), ...freshness });
}

/** What is wrong with the tree, as the server checks it. */
export function useConfigProblems() {
  return useQuery({ queryKey: keys.problems, queryFn: () => unwrap(client.GET('/api/workflows/problems')) });
}

/** The text of one file, its secrets covered. */
export function useConfigText(path: string) {
  return useQuery({
    queryKey: keys.file(path),
    queryFn: () => unwrap(client.GET('/api/workflows/files/{path}', { params: { path: { path } } })),
  });
}

/** The nodes of a workflow, names looked up as `user` would; "" for whoever it belongs to. */
export function useWorkflowGraph(path: string, user: string) {
  return useQuery({
    queryKey: keys.graph(path, user),
    queryFn: () => unwrap(client.GET('/api/workflows/graph', { params: { query: { path, ...(user && { user }) } } })),
  });
}

/** The JSON Schema of a kind of file; none for files that have no shape of their own. */
export function useConfigSchema(kind: FileKind) {
  return useQuery({
    queryKey: keys.schema(kind),
    queryFn: () => unwrap(client.GET('/api/workflows/schema/{kind}', { params: { path: { kind } } })),
    enabled: kind !== 'other',
    staleTime: Infinity,
  });
}

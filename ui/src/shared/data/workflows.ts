import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from './change';

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
export type SavedWorkflow = components['schemas']['SavedWorkflow'];
export type SavingState = components['schemas']['SavingState'];

const keys = {
  all: ['workflows'],
  saving: ['workflows', 'saving'],
  check: (path: string, text: string) => ['workflows', 'check', path, text],
  kept: (path: string) => ['workflows', 'kept', path],
  tree: ['workflows', 'tree'],
  problems: ['workflows', 'problems'],
  file: (path: string) => ['workflows', 'file', path],
  graph: (path: string, user: string) => ['workflows', 'graph', path, user],
  schema: (kind: FileKind) => ['workflows', 'schema', kind],
};

/** All files and users of the tree that is served. */
export function useConfigTree(how: { staleTime?: number; enabled?: boolean } = {}) {
  return useQuery({ queryKey: keys.tree, queryFn: () => unwrap(client.GET('/api/workflows')), ...how });
}

/** What is wrong with the tree, as the server checks it. */
export function useConfigProblems() {
  return useQuery({ queryKey: keys.problems, queryFn: () => unwrap(client.GET('/api/workflows/problems')) });
}

/** The text of one file, its secrets hidden. */
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

/** Whether this caller may save workflows; where not, why. */
export function useSaving() {
  return useQuery({
    queryKey: keys.saving,
    queryFn: () => unwrap(client.GET('/api/workflows/saving')),
    staleTime: 60_000,
  });
}

/** What keeps a text from being saved in that place, and the warnings of its check. */
export function useTextCheck(path: string, text: string) {
  return useQuery({
    queryKey: keys.check(path, text),
    queryFn: () => unwrap(client.POST('/api/workflows/check', { body: { path, text } })),
    gcTime: 0,
  });
}

/** The version of a workflow before it was last saved. */
export function useKeptText(path: string) {
  return useQuery({
    queryKey: keys.kept(path),
    queryFn: () => unwrap(client.GET('/api/workflows/kept/{path}', { params: { path: { path } } })),
    staleTime: 0,
  });
}

/** A text for a file; `digest` is that of the text it was made from, null for a new file. */
export interface NextText {
  path: string;
  text: string;
  digest: string | null;
}

/** Saves a workflow, unless the file holds another text than the one it was made from (status 412). */
export function useSaveWorkflow() {
  return useSaved(({ path, text, digest }: NextText) =>
    unwrap(
      client.PUT('/api/workflows/files/{path}', {
        params: { path: { path } },
        headers: digest === null ? { 'If-None-Match': '*' } : { 'If-Match': `"${digest}"` },
        body: { text },
      }),
    ),
  );
}

/** Puts the version before in place of the text with that digest, which is kept in turn. */
export function useRestoreWorkflow() {
  return useSaved(({ path, digest }: { path: string; digest: string }) =>
    unwrap(
      client.POST('/api/workflows/kept/{path}', {
        params: { path: { path } },
        headers: { 'If-Match': `"${digest}"` },
        body: {},
      }),
    ),
  );
}

/** A change of a file: its text is known at once, and all else of the tree is asked for again. */
function useSaved<Given>(change: (given: Given) => Promise<SavedWorkflow>) {
  const queries = useQueryClient();
  return useChange(change, [keys.all], {
    onSuccess: ({ file }) => queries.setQueryData(keys.file(file.path), file),
  });
}

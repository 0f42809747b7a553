import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { client, send, unwrap } from '@/shared/api/client';
import { ApiError } from '@/shared/api/errors';
import { addressOf } from '@/shared/api/paths';
import type { components } from '@/shared/api/schema';
import { useChange } from './change';
import { type ImportedConversations, importConversations } from './conversations/import';
import { conversationKeys } from './conversations/keys';
import { MEMORIES_CHANGED } from './memories/keys';
import { inScope, type Scope, useScope } from './scope';

export type ImportRecord = components['schemas']['ImportRecord'];
export type LearningEstimate = components['schemas']['LearningEstimateAnswer'];
type Memories = components['schemas']['ImportAnswer'];

/** What a file holds; a plain text may be a list of memories. */
export type Found =
  | { kind: 'conversations'; answer: ImportedConversations }
  | { kind: 'memories'; answer: Memories; isText: boolean }
  | { kind: 'text' };

const SOON_MS = 700;
const BEGINNING = 4096; // bytes
const OBJECTS = /^\uFEFF?\s*(\{|\[\s*[[{\]])/; // as a file of objects begins, and no list of dated lines

const keys = {
  all: ['imports'] as const,
  list: ({ user, project }: Scope) => ['imports', 'list', user, project] as const,
  estimate: ({ user, project }: Scope, id: string) => ['imports', 'estimate', user, project, id] as const,
};
const CHANGED = [keys.all, conversationKeys.all, ...MEMORIES_CHANGED];

/** What the user brought in, newest first, and how large a file may be; asked for again while anything goes on. */
export function useImports() {
  const scope = useScope();
  const queries = useQueryClient();
  const list = useQuery({
    queryKey: keys.list(scope),
    queryFn: ({ signal }) => unwrap(client.GET('/api/imports', { params: { query: inScope(scope) }, signal })),
    refetchInterval: ({ state }) => state.data?.results.some(goesOn) && SOON_MS,
  });
  const states = list.data?.results.map(one => `${one.state} ${one.turns_done}`).join();
  useEffect(() => {
    if (states !== undefined)
      for (const queryKey of [conversationKeys.all, ...MEMORIES_CHANGED])
        void queries.invalidateQueries({ queryKey });
  }, [states, queries]);
  return list;
}

/** Whether the server is at work on an import. */
export const goesOn = ({ state }: ImportRecord) => state === 'learning' || state === 'undoing';

/** How many calls of which model learning from an import takes. */
export function useEstimate(id: string) {
  const scope = useScope();
  return useQuery({
    queryKey: keys.estimate(scope, id),
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/imports/{import_id}/estimate', {
          params: { path: { import_id: id }, query: inScope(scope) },
          signal,
        }),
      ),
    gcTime: 0,
  });
}

/** Learns from an import with the calls that the person was told of. */
export function useLearn() {
  const scope = useScope();
  return useChange(async ({ id, estimate }: { id: string; estimate: LearningEstimate }) => {
    const { model, least_calls, most_calls } = estimate;
    const params = { path: { import_id: id }, query: inScope(scope) };
    return unwrap(
      client.POST('/api/imports/{import_id}/learn', { params, body: { model, least_calls, most_calls } }),
    );
  }, CHANGED);
}

/** Stops learning behind the turn at hand. */
export function useStop() {
  const scope = useScope();
  return useChange(
    (id: string) =>
      unwrap(
        client.POST('/api/imports/{import_id}/stop', { params: { path: { import_id: id }, query: inScope(scope) } }),
      ),
    CHANGED,
  );
}

/** Takes back what was learned of an import and what it stored. */
export function useUndoImport() {
  const scope = useScope();
  return useChange(
    (id: string) =>
      unwrap(
        client.POST('/api/imports/{import_id}/undo', { params: { path: { import_id: id }, query: inScope(scope) } }),
      ),
    CHANGED,
  );
}

interface Wanted {
  file: File;
  /** The person said that the text is a list of memories. */
  isMemories?: boolean;
}

/** Says what a file holds and what of it would come; stores nothing. */
export function useRecognition() {
  const scope = useScope();
  return useChange(({ file, isMemories }: Wanted) => recognise(scope, file, isMemories), []);
}

/** Stores what was found in a file, all of it or nothing. */
export function useBringing() {
  const scope = useScope();
  return useChange(async ({ file, found }: { file: File; found: Found }): Promise<Found> => {
    if (found.kind === 'conversations')
      return { kind: 'conversations', answer: await importConversations(scope, file, false) };
    const isText = found.kind === 'text' || found.isText;
    return { kind: 'memories', isText, answer: await sendMemories(scope, file, isText, false) };
  }, CHANGED);
}

async function recognise(scope: Scope, file: File, isMemories = false): Promise<Found> {
  if (isMemories) return { kind: 'memories', isText: true, answer: await sendMemories(scope, file, true, true) };
  try {
    return { kind: 'conversations', answer: await importConversations(scope, file, true) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'wrong_kind')
      return { kind: 'memories', isText: false, answer: await sendMemories(scope, file, false, true) };
    if (error.code === 'invalid_import' && (await isPlainText(file))) return { kind: 'text' };
    throw error;
  }
}

async function isPlainText(file: File): Promise<boolean> {
  const beginning = await file.slice(0, BEGINNING).text();
  return beginning.trim() !== '' && !/[\0\uFFFD]/.test(beginning) && !OBJECTS.test(beginning);
}

async function sendMemories(scope: Scope, file: File, isText: boolean, dryRun: boolean): Promise<Memories> {
  const format = isText ? 'text' : 'auto';
  const address = addressOf('/api/import', { ...inScope(scope), format, dry_run: String(dryRun) });
  return (await (await send(address, { method: 'POST', body: file })).json()) as Memories;
}

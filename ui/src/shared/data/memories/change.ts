import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { type More, useChange } from '../change';
import { inScope, type Scope } from '../scope';
import { MEMORIES_CHANGED } from './keys';
import type { Memory } from './list';

type Merged = components['schemas']['MergeAnswer'];

const AT_ONCE = 4;

const at = (scope: Scope, id: string) => ({ path: { memory_id: id }, query: inScope(scope) });

interface Edit {
  id: string;
  memory: string;
  /** What the editor saw: a change since then is refused (409). Without it the text is put there in any case. */
  updated_at?: string;
}

/** Gives a memory another text. Its own text again says that it still holds. */
export function useEditMemory(scope: Scope) {
  return useChange(
    ({ id, ...body }: Edit) => unwrap(client.PATCH('/api/memories/{memory_id}', { params: at(scope, id), body })),
    MEMORIES_CHANGED,
  );
}

/** Takes a deleted memory back, or the text that one had after an event of its history. */
export function useRestoreMemory(scope: Scope) {
  return useChange(
    ({ id, to }: { id: string; to?: string }): Promise<Memory> =>
      unwrap(client.POST('/api/memories/{memory_id}/restore', { params: at(scope, id), body: to ? { to } : {} })),
    MEMORIES_CHANGED,
  );
}

/** Deletes memories; `useRestoreMemory` takes each back. */
export function useDeleteMemories(scope: Scope, more?: More<void, readonly string[]>) {
  return useChange(
    (ids: readonly string[]) =>
      eachOf(ids, id => unwrap(client.DELETE('/api/memories/{memory_id}', { params: at(scope, id) }))),
    MEMORIES_CHANGED,
    more,
  );
}

export interface Merge {
  ids: string[];
  keep: string;
  text: string;
}

/** Keeps one of several memories, with this text, and deletes the others. */
export function useMergeMemories({ user, project }: Scope, more?: More<Merged, Merge>) {
  return useChange(
    ({ ids, keep, text }: Merge) =>
      unwrap(
        client.POST('/api/memories/merge', {
          params: { query: { project } },
          body: { user_id: user, ids, keep, memory: text },
        }),
      ),
    MEMORIES_CHANGED,
    more,
  );
}

/** Forgets every memory of the user, with its past and the traces of runs. Nothing brings them back. */
export function useForgetMemories(scope: Scope) {
  const everything: readonly string[] = [];
  return useChange(() => unwrap(client.DELETE('/api/memories', { params: { query: inScope(scope) } })), [everything]);
}

/** A few at the same time. */
export async function eachOf(ids: readonly string[], work: (id: string) => Promise<unknown>): Promise<void> {
  const waiting = [...ids];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await work(id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

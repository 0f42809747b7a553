import { client, unwrap } from '@/shared/api/client';
import { ApiError } from '@/shared/api/errors';
import type { components } from '@/shared/api/schema';
import { type More, useChange } from '../change';
import { inScope, type Scope } from '../scope';
import { undone } from './changes';
import { MEMORIES_CHANGED } from './keys';
import type { Memory } from './list';

type Merged = components['schemas']['MergeAnswer'];

const AT_ONCE = 4;
const MOST_IN_BATCH = 500;

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

/** Deletes a memory; `useRestoreMemory` takes it back. */
export function useDeleteMemory(scope: Scope, more?: More<unknown, string>) {
  return useChange(
    (id: string) => unwrap(client.DELETE('/api/memories/{memory_id}', { params: at(scope, id) })),
    MEMORIES_CHANGED,
    more,
  );
}

/** One thing that is done with several memories. */
export type BatchWork = Pick<
  Partial<components['schemas']['BatchBody']>,
  'delete' | 'tags' | 'expiration_date' | 'project'
>;
export type Batch = BatchWork & { ids: readonly string[] };
export type BatchedChange = components['schemas']['BatchedChange'];

/** Does one thing with memories, so many at a time that each time is all of them or none. */
export function useBatch({ user, project }: Scope, more?: More<BatchedChange[], Batch>) {
  return useChange(
    async ({ ids, ...work }: Batch) => {
      const done: BatchedChange[] = [];
      for (let first = 0; first < ids.length; first += MOST_IN_BATCH) {
        const body = { user_id: user, ids: ids.slice(first, first + MOST_IN_BATCH), ...work };
        const { changes } = await unwrap(
          client.POST('/api/memories/batch', { params: { query: { project } }, body }),
        );
        done.push(...changes);
      }
      return done;
    },
    MEMORIES_CHANGED,
    more,
  );
}

/**
 * Takes back what was done with several memories; of a move first where they were, so that a lost request loses none.
 * Where a quota has no room for both, first where they are, which is made again if they do not come back.
 */
export function useUndoBatch({ user }: Scope) {
  const back = ({ id, project }: BatchedChange) => undone({ user, project }, id);
  return useChange(async (changes: readonly BatchedChange[]) => {
    const waiting = [...changes];
    for (let change = waiting.shift(); change; change = waiting.shift()) {
      try {
        await back(change);
      } catch (error) {
        const there = error instanceof ApiError && error.code === 'quota_exceeded' && waiting.shift();
        if (!there) throw error;
        const left = await back(there);
        await back(change).catch(async (again: unknown) => {
          await back({ ...there, id: left.id });
          throw again;
        });
      }
    }
  }, MEMORIES_CHANGED);
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

import { notifyFailure, notifyUndo } from '@/shared/components/notify';
import {
  type Batch,
  eachOf,
  useBatch,
  useEditMemory,
  useMergeMemories,
  useRestoreMemory,
  useUndoBatch,
} from '@/shared/data/memories/change';
import type { Memory } from '@/shared/data/memories/list';
import type { Scope } from '@/shared/data/scope';

const counted = (count: number) => (count === 1 ? 'Memory' : `${count.toLocaleString()} memories`);

/** What was done with memories. */
function doneWith({ ids, delete: isDeleted, tags, project }: Batch): string {
  if (isDeleted) return `${counted(ids.length)} deleted`;
  if (tags) return `Tags of ${counted(ids.length).toLowerCase()} changed`;
  if (project) return `${counted(ids.length)} moved to ${project}`;
  return `Last day of ${counted(ids.length).toLowerCase()} changed`;
}

/** Does one thing with all of some memories, and offers to take all of it back. */
export function useBatches(owner: Scope) {
  const undo = useUndoBatch(owner);
  return useBatch(owner, {
    onSuccess: (changes, batch) => {
      if (changes.length > 0) notifyUndo(doneWith(batch), () => undo.mutateAsync(changes));
    },
    onError: (error, batch) =>
      notifyFailure(batch.delete ? 'Could not delete everything' : 'Could not change everything', error),
  });
}

/** Keeps one of several memories and offers to take the others back. */
export function useMerging(owner: Scope, memories: Memory[]) {
  const edit = useEditMemory(owner);
  const restore = useRestoreMemory(owner);
  return useMergeMemories(owner, {
    onSuccess: (_, { ids, keep, text }) => {
      const before = memories.find(memory => memory.id === keep)?.memory;
      const others = ids.filter(id => id !== keep);
      notifyUndo(`${ids.length} memories merged into one`, async () => {
        if (before !== undefined && before !== text) await edit.mutateAsync({ id: keep, memory: before });
        await eachOf(others, id => restore.mutateAsync({ id }));
      });
    },
  });
}

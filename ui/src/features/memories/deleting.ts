import { notifyFailure, notifyUndo } from '@/shared/components/notify';
import {
  eachOf,
  useDeleteMemories,
  useEditMemory,
  useMergeMemories,
  useRestoreMemory,
} from '@/shared/data/memories/change';
import type { Memory } from '@/shared/data/memories/list';
import type { Scope } from '@/shared/data/scope';

/** Deletes memories and offers to take them back. */
export function useDeleting(owner: Scope) {
  const restore = useRestoreMemory(owner);
  return useDeleteMemories(owner, {
    onSuccess: (_, ids) => {
      const what = ids.length === 1 ? 'Memory deleted' : `${ids.length} memories deleted`;
      notifyUndo(what, () => eachOf([...ids].reverse(), id => restore.mutateAsync({ id })));
    },
    onError: error => notifyFailure('Could not delete everything', error),
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

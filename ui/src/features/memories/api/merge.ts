import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { notifyUndo } from '@/shared/components/notify';
import { useRestoreMemory } from './change';
import { MEMORIES, type Memory, type Owner } from './keys';
import { eachOf } from './remove';

interface Merge {
  memories: Memory[];
  keep: string;
  text: string;
}

/** Keeps one of several memories and offers to take the others back. */
export function useMergeMemories(owner: Owner) {
  const { user, project } = owner;
  const queries = useQueryClient();
  const restore = useRestoreMemory(owner);
  return useMutation({
    mutationFn: ({ memories, keep, text }: Merge) =>
      unwrap(
        client.POST('/api/memories/merge', {
          params: { query: { project } },
          body: { user_id: user, ids: memories.map(memory => memory.id), keep, memory: text },
        }),
      ),
    onSuccess: (_, { memories, keep, text }) => {
      const before = memories.find(memory => memory.id === keep)?.memory;
      const others = memories.filter(memory => memory.id !== keep).map(memory => memory.id);
      notifyUndo(`${memories.length} memories merged into one`, async () => {
        if (before !== undefined && before !== text) await takeBack(keep, before);
        await eachOf(others, id => restore.mutateAsync({ id }));
      });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: MEMORIES }),
  });

  async function takeBack(id: string, text: string): Promise<void> {
    await unwrap(
      client.PATCH('/api/memories/{memory_id}', {
        params: { path: { memory_id: id }, query: { user_id: user, project } },
        body: { memory: text },
      }),
    );
  }
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { notifyFailure, notifyUndo } from '@/shared/components/notify';
import { useRestoreMemory } from './change';
import { MEMORIES, type Owner } from './keys';

const AT_ONCE = 4;

/** Deletes memories and offers to take them back. */
export function useDeleteMemories(owner: Owner) {
  const { user, project } = owner;
  const queries = useQueryClient();
  const restore = useRestoreMemory(owner);
  return useMutation({
    mutationFn: (ids: string[]) =>
      eachOf(ids, id =>
        unwrap(
          client.DELETE('/api/memories/{memory_id}', {
            params: { path: { memory_id: id }, query: { user_id: user, project } },
          }),
        ),
      ),
    onSuccess: (_, ids) => {
      const what = ids.length === 1 ? 'Memory deleted' : `${ids.length} memories deleted`;
      notifyUndo(what, () => eachOf([...ids].reverse(), id => restore.mutateAsync({ id })));
    },
    onError: error => notifyFailure('Not everything was deleted', error),
    onSettled: () => queries.invalidateQueries({ queryKey: MEMORIES }),
  });
}

/** A few at the same time. */
export async function eachOf(ids: readonly string[], work: (id: string) => Promise<unknown>): Promise<void> {
  const waiting = [...ids];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await work(id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

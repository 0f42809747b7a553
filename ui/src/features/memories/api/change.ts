import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { MEMORIES, type Memory, type Owner } from './keys';

interface Edit {
  id: string;
  memory: string;
  /** What the editor saw: a change since then is refused. */
  updated_at: string;
}

/** Gives a memory another text. Its own text again says that it still holds. */
export function useEditMemory({ user, project }: Owner) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }: Edit) =>
      unwrap(
        client.PATCH('/api/memories/{memory_id}', {
          params: { path: { memory_id: id }, query: { user_id: user, project } },
          body,
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: MEMORIES }),
  });
}

/** Takes a deleted memory back, or the text that one had after an event of its history. */
export function useRestoreMemory({ user, project }: Owner) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, to }: { id: string; to?: string }): Promise<Memory> =>
      unwrap(
        client.POST('/api/memories/{memory_id}/restore', {
          params: { path: { memory_id: id }, query: { user_id: user, project } },
          body: to ? { to } : {},
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: MEMORIES }),
  });
}

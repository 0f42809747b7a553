import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { type Memory, MEMORIES } from './memories';

/** Puts other words in the place of a memory's. Refused with 409 when it was changed since it was shown. */
export function useEditMemory() {
  const { user, project } = useSettings();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ memory, text }: { memory: Memory; text: string }) =>
      unwrap(
        client.PATCH('/api/memories/{memory_id}', {
          params: { path: { memory_id: memory.id }, query: { user_id: user, project } },
          body: { memory: text, updated_at: memory.updated_at },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: MEMORIES }),
  });
}

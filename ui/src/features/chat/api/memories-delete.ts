import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { MEMORIES } from './memories';

/** Deletes one memory; `useRestoreMemory` takes it back. */
export function useDeleteMemory() {
  const { user, project } = useSettings();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      unwrap(
        client.DELETE('/api/memories/{memory_id}', {
          params: { path: { memory_id: id }, query: { user_id: user, project } },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: MEMORIES }),
  });
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { MEMORIES } from './memories';

/** Takes a deleted memory back as it was. */
export function useRestoreMemory() {
  const { user, project } = useSettings();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      unwrap(
        client.POST('/api/memories/{memory_id}/restore', {
          params: { path: { memory_id: id }, query: { user_id: user, project } },
          body: {},
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: MEMORIES }),
  });
}

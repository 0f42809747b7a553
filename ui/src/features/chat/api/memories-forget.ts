import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { MEMORIES } from './memories';

/** Deletes all memories of the user in the project, with their past. Nothing takes that back. */
export function useForgetEverything() {
  const { user, project } = useSettings();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(client.DELETE('/api/memories', { params: { query: { user_id: user, project } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: MEMORIES }),
  });
}

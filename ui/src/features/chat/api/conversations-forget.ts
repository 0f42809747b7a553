import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { CONVERSATIONS } from './conversations';
import { FILES } from './files';
import { MEMORIES } from './memories';

/** Deletes a conversation with all that was made of it, also what was learned from it alone. */
export function useForgetConversation() {
  const { user, project } = useSettings();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      unwrap(
        client.DELETE('/api/conversations/{id}', { params: { path: { id }, query: { user_id: user, project } } }),
      ),
    onSettled: () =>
      Promise.all([CONVERSATIONS, MEMORIES, FILES].map(queryKey => queries.invalidateQueries({ queryKey }))),
  });
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { refreshed } from './thread';

/** Shows another branch: the newest one that goes through a message. */
export function useBranch(conversation: string) {
  const { user, project } = useSettings();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (messageId: number) => {
      await unwrap(
        client.PUT('/api/conversations/{id}/head', {
          params: { path: { id: conversation }, query: { user_id: user, project } },
          body: { message_id: messageId, to_newest: true },
        }),
      );
      await refreshed(queries, { user, project, conversation });
    },
  });
}

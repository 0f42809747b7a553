import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { type Place, refreshed } from './thread';
import { pastKey } from './thread-past';

/** Lets the thread be the newest branch that goes through a message. */
export async function showBranch(queries: QueryClient, place: Place, messageId: number): Promise<void> {
  const { user, project, conversation } = place;
  await unwrap(
    client.PUT('/api/conversations/{id}/head', {
      params: { path: { id: conversation }, query: { user_id: user, project } },
      body: { message_id: messageId, to_newest: true },
    }),
  );
  await Promise.all([refreshed(queries, place), queries.invalidateQueries({ queryKey: pastKey(place) })]);
}

export function useBranch(conversation: string) {
  const { user, project } = useSettings();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (messageId: number) => showBranch(queries, { user, project, conversation }, messageId),
  });
}

import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { MEMORIES, type Owner } from './keys';

const LOOKED_AT = 500;
const BESIDE = 2;

/** A message with what was said just before and after it; [] when it is further back than is looked at. */
export function useMessagesAround(
  { user, project }: Owner,
  conversation: string,
  messageId: number,
  enabled: boolean,
) {
  return useQuery({
    queryKey: [...MEMORIES, 'around', user, project, conversation, messageId],
    queryFn: async ({ signal }) => {
      const page = await unwrap(
        client.GET('/api/conversations/{id}/messages', {
          params: { path: { id: conversation }, query: { user_id: user, project, limit: LOOKED_AT } },
          signal,
        }),
      );
      const at = page.results.findIndex(message => message.id === messageId);
      return at < 0 ? [] : page.results.slice(Math.max(0, at - BESIDE), at + BESIDE + 1);
    },
    enabled,
  });
}

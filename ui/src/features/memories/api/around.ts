import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { MEMORIES, type Owner } from './keys';

const LOOKED_AT = 500;
const BESIDE = 2;

/** Messages with what was said just before and after them; [] when they are further back than is looked at. */
export function useMessagesAround({ user, project }: Owner, conversation: string, messageIds: number[]) {
  return useQuery({
    queryKey: [...MEMORIES, 'around', user, project, conversation, messageIds],
    queryFn: async ({ signal }) => {
      const page = await unwrap(
        client.GET('/api/conversations/{id}/messages', {
          params: { path: { id: conversation }, query: { user_id: user, project, limit: LOOKED_AT } },
          signal,
        }),
      );
      const wanted = new Set(messageIds);
      const first = page.results.findIndex(message => wanted.has(message.id));
      const last = page.results.findLastIndex(message => wanted.has(message.id));
      return first < 0 ? [] : page.results.slice(Math.max(0, first - BESIDE), last + BESIDE + 1);
    },
  });
}

import { useInfiniteQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useSettings } from '@/shared/settings/settings';

export type Conversation = components['schemas']['ConversationAnswer'];
export type ConversationPage = components['schemas']['ConversationPage'];

/** What every list of conversations is kept under: invalidate it when something was said, renamed or forgotten. */
export const CONVERSATIONS = ['conversations'] as const;

export const listKey = (user: string, project: string) => [...CONVERSATIONS, 'list', user, project] as const;

const PAGE = 100;

/** Newest activity first, page by page. */
export function useConversations() {
  const { user, project } = useSettings();
  const list = useInfiniteQuery({
    queryKey: listKey(user, project),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET('/api/conversations', {
          params: {
            query: {
              user_id: user,
              project,
              limit: PAGE,
              ...(pageParam && { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  });
  return { ...list, conversations: list.data?.pages.flatMap(page => page.results) ?? [] };
}

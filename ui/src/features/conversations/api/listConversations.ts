import { useInfiniteQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { keys, useScope } from './scope';

export type Conversation = components['schemas']['ConversationAnswer'];

/** A user's conversations, newest activity first, page by page. */
export function useConversations() {
  const scope = useScope();
  return useInfiniteQuery({
    queryKey: keys.lists(scope),
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        client.GET('/api/conversations', {
          params: { query: { ...scope, limit: 100, ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    getNextPageParam: page => page.next,
  });
}

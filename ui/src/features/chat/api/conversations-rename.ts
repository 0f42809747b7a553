import { type InfiniteData, useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { CONVERSATIONS, type ConversationPage, listKey } from './conversations';

type Pages = InfiniteData<ConversationPage>;

/** Gives a conversation another title; the lists show it before the server has answered. */
export function useRenameConversation() {
  const { user, project } = useSettings();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, title }: { id: string; title: string }) =>
      unwrap(
        client.PATCH('/api/conversations/{id}', {
          params: { path: { id }, query: { user_id: user, project } },
          body: { title: title || null },
        }),
      ),
    onMutate: ({ id, title }) => {
      queries.setQueriesData<Pages>(
        { queryKey: listKey(user, project) },
        pages => pages && renamed(pages, id, title),
      );
    },
    onSettled: () => queries.invalidateQueries({ queryKey: CONVERSATIONS }),
  });
}

function renamed(pages: Pages, id: string, title: string): Pages {
  return {
    ...pages,
    pages: pages.pages.map(page => ({
      ...page,
      results: page.results.map(one => (one.id === id ? { ...one, title: title || null } : one)),
    })),
  };
}

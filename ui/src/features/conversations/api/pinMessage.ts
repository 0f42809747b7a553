import { type InfiniteData, useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { MessagePage } from './getMessages';
import { messagesKey } from './getMessages';
import { keys, pathSerializer, useScope } from './scope';

/** Keeps a message in windows, or no longer. */
export function usePinMessage(id: string) {
  const scope = useScope();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ message_id, pinned }: { message_id: number; pinned: boolean }) =>
      unwrap(
        client.PATCH('/api/conversations/{id}/messages/{message_id}', {
          params: { path: { id, message_id }, query: scope },
          body: { pinned },
          pathSerializer,
        }),
      ),
    onSuccess: async changed => {
      queries.setQueriesData<InfiniteData<MessagePage>>(
        { queryKey: messagesKey(scope, id) },
        known => known && replaced(known, changed),
      );
      await queries.invalidateQueries({ queryKey: [...keys.of(scope, id), 'window'] });
    },
  });
}

function replaced(
  known: InfiniteData<MessagePage>,
  changed: MessagePage['results'][number],
): InfiniteData<MessagePage> {
  const pages = known.pages.map(page =>
    page.results.some(message => message.id === changed.id)
      ? { ...page, results: page.results.map(message => (message.id === changed.id ? changed : message)) }
      : page,
  );
  return { ...known, pages };
}

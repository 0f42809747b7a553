import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { keys, pathSerializer, useScope } from './scope';

export type Changed = Partial<components['schemas']['ConversationChange']>;

/** Title, tags, whether it is kept, a new context. */
export function useChangeConversation(id: string) {
  const scope = useScope();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Changed) =>
      unwrap(
        client.PATCH('/api/conversations/{id}', { params: { path: { id }, query: scope }, body, pathSerializer }),
      ),
    onSuccess: async changed => {
      queries.setQueryData(keys.of(scope, id), changed);
      await queries.invalidateQueries({ queryKey: keys.all });
    },
  });
}

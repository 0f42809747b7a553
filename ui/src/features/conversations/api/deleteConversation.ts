import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { keys, pathSerializer, useScope } from './scope';

/** Forgets it, and all that was made of it. */
export function useDeleteConversation(id: string) {
  const scope = useScope();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      unwrap(client.DELETE('/api/conversations/{id}', { params: { path: { id }, query: scope }, pathSerializer })),
    onSuccess: async () => {
      queries.removeQueries({ queryKey: keys.of(scope, id) });
      await queries.invalidateQueries({ queryKey: keys.lists(scope) });
    },
  });
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { keys, pathSerializer, useScope } from './scope';

/** Another conversation, with a copy of what leads to a message. */
export function useBranchConversation(id: string) {
  const scope = useScope();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (message: number) =>
      unwrap(
        client.POST('/api/conversations/{id}/branch', {
          params: { path: { id }, query: scope },
          body: { message_id: message },
          pathSerializer,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.lists(scope) }),
  });
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { keys, pathSerializer, useScope } from './scope';

/** Lets the thread end with a message: the branch that chats go on with. */
export function useSetHead(id: string) {
  const scope = useScope();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (message: number) =>
      unwrap(
        client.PUT('/api/conversations/{id}/head', {
          params: { path: { id }, query: scope },
          body: { message_id: message, to_newest: false },
          pathSerializer,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.all }),
  });
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { keys, pathSerializer, useScope } from './scope';

interface Head {
  message_id: number;
  /** Whether the thread goes on from there, to the newest end behind that message. */
  to_newest: boolean;
}

/** Lets the thread end with a message: the branch that chats go on with. */
export function useSetHead(id: string) {
  const scope = useScope();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Head) =>
      unwrap(
        client.PUT('/api/conversations/{id}/head', {
          params: { path: { id }, query: scope },
          body,
          pathSerializer,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.all }),
  });
}

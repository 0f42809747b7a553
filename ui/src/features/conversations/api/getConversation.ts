import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { keys, pathSerializer, useScope } from './scope';

export function useConversation(id: string) {
  const scope = useScope();
  return useQuery({
    queryKey: keys.of(scope, id),
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/conversations/{id}', { params: { path: { id }, query: scope }, pathSerializer, signal }),
      ),
  });
}

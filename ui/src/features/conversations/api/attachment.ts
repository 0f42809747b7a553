import { useQuery } from '@tanstack/react-query';
import { send } from '@/shared/api/client';
import { encoded, keys, useScope } from './scope';

/** The bytes of a file of a message, by the last step of its link. */
export function useAttachment(id: string, name: string) {
  const scope = useScope();
  return useQuery({
    queryKey: [...keys.of(scope, id), 'attachment', name],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ ...scope }).toString();
      const answer = await send(`/api/conversations/${encoded(id)}/attachments/${encoded(name)}?${query}`, {
        signal,
      });
      return answer.blob();
    },
    staleTime: Infinity, // a link names its content
  });
}

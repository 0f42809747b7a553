import { useQuery } from '@tanstack/react-query';
import { ApiError, client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { CONVERSATIONS } from './conversations';

/** What is known about a conversation; null for one that is about to begin. */
export function useConversation(id: string | null) {
  const { user, project } = useSettings();
  return useQuery({
    queryKey: [...CONVERSATIONS, 'one', user, project, id],
    queryFn: () => conversation(id ?? '', user, project),
    enabled: id !== null,
  });
}

async function conversation(id: string, user: string, project: string) {
  try {
    return await unwrap(
      client.GET('/api/conversations/{id}', { params: { path: { id }, query: { user_id: user, project } } }),
    );
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

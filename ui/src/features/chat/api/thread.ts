import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useSettings } from '@/shared/settings/settings';
import { NO_MESSAGES, type Thread, withNewest, withOlder } from './thread-pages';

export type Message = components['schemas']['MessageAnswer'];

/** Whose conversation, and which one. */
export interface Place {
  user: string;
  project: string;
  conversation: string;
}

const PAGE = 60;

export const threadKey = ({ user, project, conversation }: Place) => ['thread', user, project, conversation] as const;

/** The thread of the conversation, from its newest messages upwards; without an id one that is about to begin. */
export function useThread(conversation: string | null) {
  const { user, project } = useSettings();
  const queries = useQueryClient();
  const place = { user, project, conversation: conversation ?? '' };
  const thread = useQuery({
    queryKey: threadKey(place),
    queryFn: () => newest(queries, place),
    enabled: conversation !== null,
  });
  const older = useMutation({
    mutationFn: (cursor: string) => page(place, cursor),
    onSuccess: found => queries.setQueryData<Thread>(threadKey(place), known => known && withOlder(known, found)),
  });
  return { ...thread, older };
}

/** The thread as it is now; what was loaded of it upwards stays where it is still a part of it. */
export async function refreshed(queries: QueryClient, place: Place): Promise<Thread> {
  const queryKey = threadKey(place);
  await queries.cancelQueries({ queryKey }); // one under way may tell of a moment ago
  return queries.query({ queryKey, queryFn: () => newest(queries, place), staleTime: 0 });
}

async function newest(queries: QueryClient, place: Place): Promise<Thread> {
  try {
    const found = await page(place);
    return withNewest(queries.getQueryData<Thread>(threadKey(place)), found);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return NO_MESSAGES;
    throw error;
  }
}

function page({ user, project, conversation }: Place, cursor = '') {
  const query = { user_id: user, project, limit: PAGE, ...(cursor && { cursor }) };
  return unwrap(client.GET('/api/conversations/{id}/messages', { params: { path: { id: conversation }, query } }));
}

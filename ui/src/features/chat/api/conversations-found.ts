import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useSettings } from '@/shared/settings/settings';
import { CONVERSATIONS } from './conversations';

export type FoundMessage = components['schemas']['FoundMessage'];

const MOST_FOUND = 12;

/** Messages of all conversations that hold these words or mean the same, best first. */
export function useFoundMessages(words: string) {
  const { user, project } = useSettings();
  return useQuery({
    queryKey: [...CONVERSATIONS, 'found', user, project, words],
    queryFn: ({ signal }) =>
      unwrap(
        client.GET('/api/conversations/search', {
          params: { query: { user_id: user, project, q: words, limit: MOST_FOUND, related: true } },
          signal,
        }),
      ),
    enabled: words !== '',
    placeholderData: keepPreviousData,
  });
}

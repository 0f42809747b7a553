import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { MEMORIES } from './memories';

const MOST_FOUND = 50;

/** The memories that bear on these words, best first. */
export function useFoundMemories(words: string) {
  const { user, project } = useSettings();
  return useQuery({
    queryKey: [...MEMORIES, 'found', user, project, words],
    queryFn: ({ signal }) =>
      unwrap(
        client.POST('/api/memories/search', {
          params: { query: { project } },
          body: { query: words, user_id: user, limit: MOST_FOUND },
          signal,
        }),
      ),
    enabled: words !== '',
    placeholderData: keepPreviousData,
  });
}

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { MEMORIES, type Owner } from './keys';

export const MOST_FOUND = 100;

/** What bears on a question, best first, with what each stage of the search found. */
export function useMemorySearch({ user, project }: Owner, question: string) {
  return useQuery({
    queryKey: [...MEMORIES, 'search', user, project, question],
    queryFn: ({ signal }) =>
      unwrap(
        client.POST('/api/memories/search', {
          params: { query: { project } },
          body: { query: question, user_id: user, limit: MOST_FOUND, explain: true },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    enabled: question !== '',
  });
}

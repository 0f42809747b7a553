import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { MEMORIES, type Owner } from './keys';
import { type Conditions, isByChange } from './list';

export const MOST_FOUND = 100;

/** What bears on a question among what meets the conditions, best first, with what each stage of the search found. */
export function useMemorySearch({ user, project }: Owner, question: string, conditions: Conditions) {
  const { kind, since, source, hidden, order } = conditions;
  return useQuery({
    queryKey: [...MEMORIES, 'search', user, project, question, conditions],
    queryFn: ({ signal }) =>
      unwrap(
        client.POST('/api/memories/search', {
          params: { query: { project } },
          body: {
            query: question,
            user_id: user,
            limit: MOST_FOUND,
            explain: true,
            hidden,
            ...(kind && { kind }),
            ...(since && { since, by: isByChange(order) ? 'updated' : 'created' }),
            ...(source && { source }),
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    enabled: question !== '',
  });
}

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import type { Scope } from '../scope';
import { memoryKeys as keys } from './keys';
import type { Conditions } from './list';

export type Timeline = components['schemas']['Timeline'];
export type Week = components['schemas']['Week'];

/** What of a user's memories is counted; `at` is "" for those of now. */
export type Counted = Pick<Conditions, 'kind' | 'origin' | 'hidden' | 'at'>;

/** How many memories are of each week, by origin. */
export function useTimeline({ user, project }: Scope, { kind, origin, hidden, at }: Counted) {
  return useQuery({
    queryKey: [...keys.list({ user, project }), 'timeline', kind, origin, hidden, at],
    queryFn: ({ signal }) => {
      const query = { project, hidden, ...(kind && { kind }), ...(origin && { origin }), ...(at && { at }) };
      const params = { path: { user_id: user }, query };
      return unwrap(client.GET('/api/memories/{user_id}/timeline', { params, signal }));
    },
    placeholderData: keepPreviousData,
    refetchOnMount: 'always', // what a chat taught just now is counted, too
  });
}

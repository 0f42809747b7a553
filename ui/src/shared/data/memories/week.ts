import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { inScope, type Scope } from '../scope';

const MOST = 200; // of each kind
const WEEK_MS = 7 * 86_400_000;

/** What was learned in the week before `now`, the newest changes, what waits, and how often each memory was recalled. */
export function useWeekBefore(scope: Scope, now: number) {
  return useQuery({
    queryKey: ['week', scope.user, scope.project, now], // not one of those that changes of memories renew
    queryFn: async ({ signal }) => {
      const query = { ...inScope(scope), limit: MOST };
      const since = new Date(now - WEEK_MS).toISOString();
      const params = { path: { user_id: scope.user }, query: { project: scope.project } };
      const [learned, changes, proposals, map] = await Promise.all([
        unwrap(client.GET('/api/memories', { params: { query: { ...query, since } }, signal })),
        unwrap(client.GET('/api/memories/changes', { params: { query }, signal })),
        unwrap(client.GET('/api/memories/proposals', { params: { query }, signal })),
        unwrap(client.GET('/api/memories/{user_id}/map', { params, signal })),
      ]);
      return { learned: learned.results, changes: changes.results, proposals: proposals.results, points: map.points };
    },
    staleTime: Infinity,
    gcTime: 0,
  });
}

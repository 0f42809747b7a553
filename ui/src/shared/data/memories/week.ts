import { useQuery } from '@tanstack/react-query';
import { inScope, type Scope } from '../scope';
import { changesPage } from './changes';
import { memoriesPage } from './list';
import { mapOf } from './map';
import { proposalsPage } from './proposals';

const MOST = 200; // of each kind
const WEEK_MS = 7 * 86_400_000;

/** What was learned in the week before `now`, the newest changes, what waits, and how often each memory was recalled. */
export function useWeekBefore(scope: Scope, now: number) {
  return useQuery({
    queryKey: ['week', scope.user, scope.project, now], // not one of those that changes of memories renew
    queryFn: async ({ signal }) => {
      const part = { limit: MOST };
      const since = new Date(now - WEEK_MS).toISOString();
      const [learned, changes, proposals, map] = await Promise.all([
        memoriesPage({ ...inScope(scope), ...part, since }, signal),
        changesPage(scope, part, signal),
        proposalsPage(scope, part, signal),
        mapOf(scope, null, signal),
      ]);
      return { learned: learned.results, changes: changes.results, proposals: proposals.results, points: map.points };
    },
    staleTime: Infinity,
    gcTime: 0,
  });
}

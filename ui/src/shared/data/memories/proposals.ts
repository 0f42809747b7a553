import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { type More, useChange } from '../change';
import { useResults } from '../pages';
import { inScope, type Scope } from '../scope';
import { memoryKeys as keys, MEMORIES_CHANGED } from './keys';

export type Proposal = components['schemas']['ProposalRecord'];
type Approved = components['schemas']['ApprovedProposals'];

const PAGE = 50;

export function proposalsPage(scope: Scope, part: { limit: number; cursor?: string }, signal: AbortSignal) {
  return unwrap(client.GET('/api/memories/proposals', { params: { query: { ...inScope(scope), ...part } }, signal }));
}

/** What waits for a review, newest first, page by page. */
export function useProposals(scope: Scope) {
  const list = useInfiniteQuery({
    queryKey: keys.proposals(scope),
    queryFn: ({ pageParam, signal }) =>
      proposalsPage(scope, { limit: PAGE, ...(pageParam && { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  });
  return { ...list, proposals: useResults(list.data), total: list.data?.pages[0]?.total ?? 0 };
}

/** How much waits; undefined while nobody knows. */
export function useWaitingCount(scope: Scope): number | undefined {
  const { data } = useQuery({
    queryKey: keys.waiting(scope),
    queryFn: async ({ signal }) => (await proposalsPage(scope, { limit: 1 }, signal)).total,
  });
  return data;
}

const at = (scope: Scope, id: string) => ({ path: { proposal_id: id }, query: inScope(scope) });

/** Makes a proposed change, which can be undone. */
export function useApprove(scope: Scope) {
  return useChange(
    (id: string) => unwrap(client.POST('/api/memories/proposals/{proposal_id}/approve', { params: at(scope, id) })),
    MEMORIES_CHANGED,
  );
}

/** Drops a proposal. */
export function useRefuse(scope: Scope) {
  return useChange(
    (id: string) => unwrap(client.POST('/api/memories/proposals/{proposal_id}/refuse', { params: at(scope, id) })),
    MEMORIES_CHANGED,
  );
}

/** Gives a proposal another text; it still waits. */
export function useEditProposal(scope: Scope) {
  return useChange(
    ({ id, memory }: { id: string; memory: string }) =>
      unwrap(client.PATCH('/api/memories/proposals/{proposal_id}', { params: at(scope, id), body: { memory } })),
    MEMORIES_CHANGED,
  );
}

/** Several proposals; of null all. */
type Several = readonly string[] | null;

const body = (user: string, ids: Several) => ({
  user_id: user,
  ...(ids === null ? { all: true } : { ids: [...ids] }),
});

/** Makes all proposed changes that still fit; the answer names those that do not. */
export function useApproveSeveral({ user, project }: Scope, more?: More<Approved, Several>) {
  return useChange(
    (ids: Several) =>
      unwrap(
        client.POST('/api/memories/proposals/approve', { params: { query: { project } }, body: body(user, ids) }),
      ),
    MEMORIES_CHANGED,
    more,
  );
}

/** Drops several proposals. */
export function useRefuseSeveral({ user, project }: Scope) {
  return useChange(
    (ids: Several) =>
      unwrap(
        client.POST('/api/memories/proposals/refuse', { params: { query: { project } }, body: body(user, ids) }),
      ),
    MEMORIES_CHANGED,
  );
}

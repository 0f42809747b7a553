import { keepPreviousData, useInfiniteQuery, useIsFetching, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components, paths } from '@/shared/api/schema';
import { useResults } from '../pages';
import { inScope, type Scope } from '../scope';
import { memoryKeys as keys } from './keys';

export type Memory = components['schemas']['MemoryRecord'];
export type ListedMemory = components['schemas']['ListedMemory'];
export type Hit = components['schemas']['Hit'];
/** Where the words of a memory come from. */
export type Origin = ListedMemory['origin'];

/** What a list is narrowed by; "" for nothing. */
export interface Conditions {
  kind: '' | 'fact' | 'message';
  origin: '' | Origin;
  since: string;
  until: string;
  /** The instant that is looked at; "" for now. */
  at: string;
  source: string;
  words: string;
  hidden: 'without' | 'with' | 'only';
  order: 'created_desc' | 'created_asc' | 'updated_desc' | 'updated_asc';
}

/** Whether times are those of the last change, not of the first. */
export const isByChange = (order: Conditions['order']) => order.startsWith('updated');

const PAGE = 500;
const NEWEST = 100;
const FEW_FOUND = 50;
export const MOST_FOUND = 100;

/** The newest memories of the user in the project; each place that begins to show them asks anew. */
export function useMemories(scope: Scope) {
  return useQuery({
    queryKey: keys.newest(scope),
    queryFn: ({ signal }) => {
      const params = { path: { user_id: scope.user }, query: { project: scope.project, limit: NEWEST } };
      return unwrap(client.GET('/api/memories/{user_id}', { params, signal }));
    },
    refetchOnMount: 'always',
  });
}

type Query = paths['/api/memories']['get']['parameters']['query'];

/** A page of memories. */
export const memoriesPage = (query: Query, signal: AbortSignal) =>
  unwrap(client.GET('/api/memories', { params: { query }, signal }));

/** The conditions as the query of a request, apart from the order. */
export function queryOf({ kind, origin, since, until, at, source, words, hidden }: Conditions) {
  return {
    hidden,
    ...(kind && { kind }),
    ...(origin && { origin }),
    ...(since && { since }),
    ...(until && { until }),
    ...(at && { at }),
    ...(source && { source }),
    ...(words && { q: words }),
  };
}

/** The memories that meet the conditions, page by page. */
export function useMemoryList(scope: Scope, conditions: Conditions, enabled: boolean) {
  const list = useInfiniteQuery({
    queryKey: [...keys.list(scope), conditions],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        ...inScope(scope),
        ...queryOf(conditions),
        order: conditions.order,
        limit: PAGE,
        ...(pageParam && { cursor: pageParam }),
      };
      return memoriesPage(query, signal);
    },
    initialPageParam: '',
    getNextPageParam: page => page.next,
    placeholderData: keepPreviousData,
    enabled,
  });
  return { ...list, memories: useResults(list.data), total: list.data?.pages[0]?.total ?? 0 };
}

/** Whether anything is remembered of the user in the project; undefined until that is known. */
export function useHasMemories(scope: Scope, enabled: boolean): boolean | undefined {
  const { data } = useQuery({
    queryKey: [...keys.list(scope), 'any'],
    queryFn: ({ signal }) => memoriesPage({ ...inScope(scope), hidden: 'with' as const, limit: 1 }, signal),
    enabled,
  });
  return data && data.total > 0;
}

/** What memories have in common: the origin of their words, the conversation they were learned in; "" for any. */
export type MemorySource = Pick<Conditions, 'origin' | 'source'>;

/** The ids of all memories of a source, those that have decayed among them. */
export function useIdsOfSource(scope: Scope, { origin, source }: MemorySource) {
  return useQuery({
    queryKey: [...keys.list(scope), 'ids', origin, source],
    queryFn: async ({ signal }) => {
      const narrowed = { hidden: 'with' as const, limit: PAGE, ...(origin && { origin }), ...(source && { source }) };
      const ids: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const query = { ...inScope(scope), ...narrowed, ...(cursor && { cursor }) };
        const page: components['schemas']['ListedMemories'] = await memoriesPage(query, signal);
        ids.push(...page.results.map(({ id }) => id));
        cursor = page.next;
      }
      return ids;
    },
    gcTime: 0,
    staleTime: 0,
  });
}

/**
 * What bears on a question, best first; with conditions among what meets these, and with what each stage of the search
 * found.
 */
export function useMemorySearch(scope: Scope, question: string, conditions: Conditions | null = null) {
  return useQuery({
    queryKey: [...keys.found(scope), question, conditions],
    queryFn: ({ signal }) => {
      const narrowed = conditions ? explained(conditions) : { limit: FEW_FOUND };
      const body = { query: question, user_id: scope.user, ...narrowed };
      const params = { query: { project: scope.project } };
      return unwrap(client.POST('/api/memories/search', { params, body, signal }));
    },
    placeholderData: keepPreviousData,
    enabled: question !== '',
  });
}

/** Whether an answer to what was looked for last is still to come. */
export function useIsSearching(scope: Scope): boolean {
  return useIsFetching({ queryKey: keys.found(scope) }) > 0;
}

function explained({ kind, origin, since, until, at, source, hidden, order }: Conditions) {
  if (at) return { limit: MOST_FOUND, explain: true, at }; // which goes with no condition
  return {
    limit: MOST_FOUND,
    explain: true,
    hidden,
    ...(kind && { kind }),
    ...(origin && { origin }),
    ...(since && { since }),
    ...(until && { until }),
    ...((since || until) && { by: isByChange(order) ? ('updated' as const) : ('created' as const) }),
    ...(source && { source }),
  };
}

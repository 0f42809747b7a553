import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, orNull, unwrap } from '@/shared/api/client';
import { ApiError } from '@/shared/api/errors';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { discussionKeys as keys } from './keys';

export type Overview = components['schemas']['DiscussionOverview'];
export type ChunkSummary = components['schemas']['ChunkSummaryAnswer'];
export type DiscussionRecord = components['schemas']['DiscussionRecordAnswer'];
export type Kind = 'summaries' | 'records';

const PAGE = 200;

/** What is remembered of the discussion that is called as the conversation; null for nothing, see `isOfAKey`. */
export function useDiscussion(id: string) {
  return useQuery({
    queryKey: keys.one(id),
    // no id of a discussion (400) is one of which nothing is remembered
    queryFn: ({ signal }) =>
      orNull(
        unwrap(client.GET('/api/discussions/{id}', { params: { path: { id } }, signal })),
        'discussion_not_found',
        400,
      ),
  });
}

/** Whether that was refused because only the key of a client opens it, and the page has none. */
export const isOfAKey = (error: unknown) => error instanceof ApiError && error.code === 'client_key_needed';

/** Chunk summaries as they follow each other, stale ones among them, or records, newest first; with their sources. */
export function useDiscussionMemories(id: string, kind: Kind) {
  return useInfiniteQuery({
    queryKey: keys.memories(id, kind),
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => {
      const stale = kind === 'summaries';
      const query = { kind, sources: true, stale, limit: PAGE, ...(pageParam && { after: pageParam }) };
      return unwrap(client.GET('/api/discussions/{id}/memories', { params: { path: { id }, query }, signal }));
    },
    getNextPageParam: page => page.next,
  });
}

/** Forgets a chunk: its words, and what was made of them. */
export function useForgetChunk(id: string, kind: Kind) {
  return useChange(
    (key: string) =>
      unwrap(
        client.DELETE('/api/discussions/{id}/memories/{key}', { params: { path: { id, key }, query: { kind } } }),
      ),
    [keys.one(id)],
  );
}

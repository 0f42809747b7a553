import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type Overview = components['schemas']['DiscussionOverview'];
export type ChunkSummary = components['schemas']['ChunkSummaryAnswer'];
export type DiscussionRecord = components['schemas']['DiscussionRecordAnswer'];
export type Kind = 'summaries' | 'records';

export const discussionKey = (id: string) => ['discussion', id] as const;

/** What is remembered of the discussion that is called as the conversation; null for nothing. */
export function useDiscussion(id: string) {
  return useQuery({
    queryKey: discussionKey(id),
    queryFn: async ({ signal }): Promise<Overview | null> => {
      try {
        return await unwrap(client.GET('/api/discussions/{id}', { params: { path: { id } }, signal }));
      } catch (error) {
        // no id of a discussion is one of which nothing is remembered
        if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return null;
        throw error;
      }
    },
  });
}

const PAGE = 200;

/** Chunk summaries as they follow each other, stale ones among them, or records, newest first; with their sources. */
export function useDiscussionMemories(id: string, kind: Kind) {
  return useInfiniteQuery({
    queryKey: [...discussionKey(id), kind],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        client.GET('/api/discussions/{id}/memories', {
          params: {
            path: { id },
            query: {
              kind,
              sources: true,
              stale: kind === 'summaries',
              limit: PAGE,
              ...(pageParam && { after: pageParam }),
            },
          },
          signal,
        }),
      ),
    getNextPageParam: page => page.next,
  });
}

/** Forgets a chunk: its words, and what was made of them. */
export function useForgetChunk(id: string, kind: Kind) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (key: string) =>
      unwrap(
        client.DELETE('/api/discussions/{id}/memories/{key}', { params: { path: { id, key }, query: { kind } } }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: discussionKey(id) }),
  });
}

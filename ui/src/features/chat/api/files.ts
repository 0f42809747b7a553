import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useSettings } from '@/shared/settings/settings';

export type Attachment = components['schemas']['AttachmentAnswer'];
export type ProjectFile = components['schemas']['ProjectFileAnswer'];

/** What lists of files are kept under: invalidate it when a message with a file was sent. */
export const FILES = ['files'] as const;

/** The files that the project is kept in, and the attachments of all of the user's conversations, newest first. */
export function useFiles() {
  const { user, project } = useSettings();
  const list = useInfiniteQuery({
    queryKey: [...FILES, 'all', user, project],
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET('/api/files', {
          params: { query: { user_id: user, project, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
  });
  return {
    ...list,
    projectFiles: list.data?.pages[0]?.project ?? [],
    attachments: list.data?.pages.flatMap(page => page.attachments) ?? [],
  };
}

/** The newest attachments of one conversation; none of one that is only about to begin. */
export function useConversationFiles(id: string | null) {
  const { user, project } = useSettings();
  return useQuery({
    queryKey: [...FILES, 'conversation', user, project, id],
    queryFn: async () => {
      const query = { user_id: user, project, limit: 200 };
      const path = { id: id ?? '' };
      const { results } = await unwrap(
        client.GET('/api/conversations/{id}/attachments', { params: { path, query } }),
      );
      return results;
    },
    enabled: id !== null,
    retry: false,
  });
}

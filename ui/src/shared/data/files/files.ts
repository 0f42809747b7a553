import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { client, send, unwrap } from '@/shared/api/client';
import { ApiError } from '@/shared/api/errors';
import { addressOf, encoded } from '@/shared/api/paths';
import type { components } from '@/shared/api/schema';
import { inScope, type Scope, useScope } from '../scope';
import { fileKeys as keys } from './keys';

export type Attachment = components['schemas']['AttachmentAnswer'];
export type ProjectFile = components['schemas']['ProjectFileAnswer'];

const MOST_OF_CONVERSATION = 200;
const CONTENT_MS = 60_000;

/** The files that the project is kept in, and the attachments of all of the user's conversations, newest first. */
export function useFiles() {
  const scope = useScope();
  const list = useInfiniteQuery({
    queryKey: keys.list(scope),
    queryFn: ({ pageParam }) => {
      const query = { ...inScope(scope), ...(pageParam && { cursor: pageParam }) };
      return unwrap(client.GET('/api/files', { params: { query } }));
    },
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
  const scope = useScope();
  return useQuery({
    queryKey: keys.ofConversation(scope, id),
    queryFn: async () => {
      const params = { path: { id: id ?? '' }, query: { ...inScope(scope), limit: MOST_OF_CONVERSATION } };
      return (await unwrap(client.GET('/api/conversations/{id}/attachments', { params }))).results;
    },
    enabled: id !== null,
    retry: false,
  });
}

/** The link to a file of a conversation, by the last step of its name. */
export function attachmentLink(conversation: string, name: string): string {
  return `/api/conversations/${encoded(conversation)}/attachments/${encodeURIComponent(name)}`;
}

/** The bytes of a file by its link. A browser does not send the key with an address alone: pictures come this way. */
export async function fileAt(scope: Scope, link: string, signal: AbortSignal | null = null): Promise<Blob> {
  // browsers take these steps out of a path
  if (/\/\.{1,2}$/.test(link)) throw new ApiError(404, 'not_found', 'There is no such file.');
  return (await send(addressOf(link, inScope(scope)), { signal })).blob();
}

/** A file's bytes, and its words if it is a text. */
export interface FileContent {
  bytes: Blob;
  text: string | null;
}

interface Wanted {
  link: string;
  isText?: boolean;
}

export function useFileContent({ link, isText = false }: Wanted) {
  const scope = useScope();
  return useQuery({
    queryKey: keys.content(scope, link),
    queryFn: async ({ signal }): Promise<FileContent> => {
      const bytes = await fileAt(scope, link, signal);
      return { bytes, text: isText ? await bytes.text() : null };
    },
    staleTime: link.includes('/attachments/') ? Infinity : CONTENT_MS, // that link names its content
    gcTime: CONTENT_MS,
  });
}

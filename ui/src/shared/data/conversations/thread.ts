import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { client, orNull, unwrap } from '@/shared/api/client';
import { useChange } from '../change';
import { fileKeys } from '../files/keys';
import { inScope, type Place, useScope } from '../scope';
import { conversationKeys as keys } from './keys';
import { messagePage } from './messages';
import { NO_MESSAGES, type Thread, withNewest, withOlder } from './threadPages';

/** The thread of the conversation, from its newest messages upwards; without an id one that is about to begin. */
export function useThread(conversation: string | null) {
  const place = { ...useScope(), conversation: conversation ?? '' };
  const queries = useQueryClient();
  const thread = useQuery({
    queryKey: keys.thread(place),
    queryFn: () => newest(queries, place),
    enabled: conversation !== null,
  });
  const older = useMutation({
    mutationFn: (cursor: string) => messagePage(place, { cursor }),
    onSuccess: found => queries.setQueryData<Thread>(keys.thread(place), known => known && withOlder(known, found)),
  });
  return { ...thread, older };
}

/** Lets the thread end with a message, or go on from there to the newest end behind it. */
export function useSetHead(conversation: string) {
  const place = { ...useScope(), conversation };
  return useChange((head: Head) => putHead(place, head), [keys.all, keys.thread(place)]);
}

/** Shows the newest branch that goes through a message. */
export function useBranch(conversation: string) {
  const place = { ...useScope(), conversation };
  const { showBranch } = useThreads();
  return useMutation({ mutationFn: (messageId: number) => showBranch(place, messageId) });
}

/** What a talk does to the threads that are kept here: it goes on while another page is shown. */
export type Threads = ReturnType<typeof threadsOf>;

export function useThreads(): Threads {
  const queries = useQueryClient();
  return useMemo(() => threadsOf(queries), [queries]);
}

function threadsOf(queries: QueryClient) {
  /** The thread as it is now; what was loaded of it upwards stays where it is still a part of it. */
  const refreshed = async (place: Place): Promise<Thread> => {
    const queryKey = keys.thread(place);
    await queries.cancelQueries({ queryKey }); // one under way may tell of a moment ago
    return queries.query({ queryKey, queryFn: () => newest(queries, place), staleTime: 0 });
  };
  const askAgain = (queryKey: readonly string[]) => queries.invalidateQueries({ queryKey });
  return {
    refreshed,
    showBranch: async (place: Place, messageId: number): Promise<void> => {
      await putHead(place, { message_id: messageId, to_newest: true });
      await Promise.all([refreshed(place), askAgain(keys.one(place))]);
    },
    /** Something was said in a conversation; with files, if so. */
    said: ({ withFiles = false } = {}): void => {
      void askAgain(keys.all);
      if (withFiles) void askAgain(fileKeys.lists);
    },
    /** The messages of a conversation are others than those that are kept here. */
    outdated: (place: Place): void => void askAgain(keys.thread(place)),
  };
}

interface Head {
  message_id: number;
  to_newest: boolean;
}

function putHead(place: Place, head: Head) {
  const params = { path: { id: place.conversation }, query: inScope(place) };
  return unwrap(client.PUT('/api/conversations/{id}/head', { params, body: head }));
}

async function newest(queries: QueryClient, place: Place): Promise<Thread> {
  const found = await orNull(messagePage(place), 404);
  return found ? withNewest(queries.getQueryData<Thread>(keys.thread(place)), found) : NO_MESSAGES;
}

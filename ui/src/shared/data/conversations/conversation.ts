import { type InfiniteData, type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client, orNull, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { fileKeys } from '../files/keys';
import { MEMORIES_CHANGED } from '../memories/keys';
import { withEach } from '../pages';
import { inScope, type Place, useScope } from '../scope';
import type { FoundMessages } from './found';
import { conversationKeys as keys } from './keys';
import { type Conversation, type ConversationPage, titleInterval } from './list';

type Changed = Partial<components['schemas']['ConversationChange']>;

const at = (place: Place) => ({ path: { id: place.conversation }, query: inScope(place) });

/** What is known about a conversation; null for one that is not there. */
export function useConversation(id: string | null) {
  const place = { ...useScope(), conversation: id ?? '' };
  return useQuery({
    queryKey: keys.one(place),
    queryFn: ({ signal }) =>
      orNull(unwrap(client.GET('/api/conversations/{id}', { params: at(place), signal })), 404),
    enabled: id !== null,
    refetchInterval: ({ state }) => titleInterval([state.data ?? null]),
  });
}

/** Title, tags, whether it is kept, a new context. Every list shows the title before the server has answered. */
export function useChangeConversation(id: string) {
  const place = { ...useScope(), conversation: id };
  const queries = useQueryClient();
  return useChange((body: Changed) => changed(place, body), [keys.all], {
    onMutate: ({ title }) => {
      if (title !== undefined) showTitle(queries, place, title);
    },
    onSuccess: changed => queries.setQueryData(keys.one(place), changed),
  });
}

/** Changes the system prompt; false where the server has no such conversation yet. */
export function useSetSystemPrompt(id: string | null) {
  const place = { ...useScope(), conversation: id ?? '' };
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (system_prompt: string) => {
      if (id === null) return false;
      const known = await orNull(changed(place, { system_prompt }), 404);
      if (known) queries.setQueryData(keys.one(place), known);
      return known !== null;
    },
  });
}

function changed(place: Place, body: Changed): Promise<Conversation> {
  return unwrap(client.PATCH('/api/conversations/{id}', { params: at(place), body }));
}

function showTitle(queries: QueryClient, place: Place, title: string | null): void {
  const id = place.conversation;
  const renamed = (one: Conversation) => (one.id === id ? { ...one, title } : one);
  queries.setQueriesData<InfiniteData<ConversationPage>>(
    { queryKey: keys.list(place) },
    pages => pages && withEach(pages, renamed),
  );
  queries.setQueriesData<Conversation[]>({ queryKey: keys.titles(place) }, found => found?.map(renamed));
  queries.setQueriesData<FoundMessages>(
    { queryKey: keys.found(place) },
    found => found && { results: found.results.map(hit => (hit.conversation_id === id ? { ...hit, title } : hit)) },
  );
  queries.setQueryData<Conversation | null>(keys.one(place), known => known && renamed(known));
}

/** Deletes a conversation with all that was made of it, also what was learned from it alone. */
export function useForgetConversation(id: string) {
  const place = { ...useScope(), conversation: id };
  const queries = useQueryClient();
  return useChange(
    () => unwrap(client.DELETE('/api/conversations/{id}', { params: at(place) })),
    [keys.lists, fileKeys.all, ...MEMORIES_CHANGED],
    {
      onSuccess: () => {
        queries.removeQueries({ queryKey: keys.one(place) });
        queries.removeQueries({ queryKey: keys.thread(place), type: 'inactive' });
      },
    },
  );
}

/** Makes another conversation with a copy of what leads to a message. */
export function useBranchConversation(id: string) {
  const place = { ...useScope(), conversation: id };
  return useChange(
    (message: number) =>
      unwrap(client.POST('/api/conversations/{id}/branch', { params: at(place), body: { message_id: message } })),
    [keys.lists],
  );
}

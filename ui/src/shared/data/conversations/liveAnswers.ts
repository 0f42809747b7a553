import { useQuery } from '@tanstack/react-query';
import { client, orNull, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { inScope, type Place, useScope } from '../scope';
import { conversationKeys as keys } from './keys';

/** An answer under way on the server, which goes on without a reader. */
export type LiveAnswer = components['schemas']['LiveAnswerEntry'];

const SOON_MS = 500;

/** The answers under way in the conversation; looked for again while the question of one is not stored yet. */
export function useLiveAnswers(conversation: string | null) {
  const place = { ...useScope(), conversation: conversation ?? '' };
  return useQuery({
    queryKey: keys.answers(place),
    queryFn: () => liveAnswers(place),
    enabled: conversation !== null,
    staleTime: 0,
    gcTime: 0, // what was under way a while ago is of no use
    refetchInterval: ({ state }) => (state.data?.some(answer => answer.question_id === null) ? SOON_MS : false),
  });
}

/** The answers under way in a conversation, oldest first; none in one that is not there. */
export async function liveAnswers({ conversation: id, ...scope }: Place): Promise<LiveAnswer[]> {
  const params = { path: { id }, query: inScope(scope) };
  const found = await orNull(unwrap(client.GET('/api/conversations/{id}/answers', { params })), 404);
  return found?.results ?? [];
}

/** Stops the answer of that run, or all of the conversation where the run is not known. */
export async function stopLiveAnswers(place: Place, runId: string): Promise<void> {
  const { conversation: id, ...scope } = place;
  const found = (await liveAnswers(place)).filter(({ run_id }) => !runId || run_id === runId);
  await Promise.all(
    found.map(answer => {
      const params = { path: { id, answer_id: answer.id }, query: inScope(scope) };
      return orNull(unwrap(client.DELETE('/api/conversations/{id}/answers/{answer_id}', { params })), 404);
    }),
  );
}

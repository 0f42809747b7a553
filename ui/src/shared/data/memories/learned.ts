import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { client, orNull, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { inScope, type Place } from '../scope';
import { undone } from './changes';
import { memoryKeys as keys, MEMORIES_CHANGED } from './keys';

export type LearnedFrom = components['schemas']['LearnedFrom'];
export type LearnedMemory = components['schemas']['LearnedMemory'];

const SOON_MS = 700;
const LATER_MS = 5_000;
const LOOKS = 15; // before it is looked for less often: a model that is away is tried again for days

/** What was learned from the turn that a message ends; asked for again while that is being worked out. */
export function useLearned(place: Place, messageId: number, isWanted: boolean) {
  const queries = useQueryClient();
  const learned = useQuery({
    queryKey: keys.learned(place, messageId),
    queryFn: () => orNull(learnedFrom(place, messageId), 404),
    enabled: isWanted,
    refetchInterval: ({ state }) => isOpen(state.data) && (state.dataUpdateCount < LOOKS ? SOON_MS : LATER_MS),
  });
  const wasOpen = useRef(false);
  const { data } = learned;
  useEffect(() => {
    if (wasOpen.current && data && !isOpen(data)) {
      for (const queryKey of [keys.newest(place), keys.list(place), keys.changes(place)])
        void queries.invalidateQueries({ queryKey });
    }
    wasOpen.current = isOpen(data);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once, when it has become known
  }, [data]);
  return learned;
}

export function isOpen(learned: LearnedFrom | null | undefined): boolean {
  return learned?.state === 'waiting' || learned?.state === 'running';
}

function learnedFrom({ conversation: id, ...scope }: Place, message_id: number): Promise<LearnedFrom> {
  const params = { path: { id, message_id }, query: inScope(scope) };
  return unwrap(client.GET('/api/conversations/{id}/messages/{message_id}/learned', { params }));
}

/**
 * Takes back what was learned, or the undo of that. It is done when it was done already, in another tab or by a second
 * click: what counts is how the memories are then.
 */
export function useUndoLearned(place: Place, messageId: number) {
  return useChange(async ({ id, undoes }: { id: string; undoes: 'learning' | 'undo' }) => {
    try {
      await undone(place, id);
    } catch (error) {
      const { state } = await learnedFrom(place, messageId);
      if (state !== (undoes === 'learning' ? 'undone' : 'learned')) throw error;
    }
  }, MEMORIES_CHANGED);
}

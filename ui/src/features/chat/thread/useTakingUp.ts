import { useEffect } from 'react';
import { notifyFailure } from '@/shared/components/notify';
import { useLiveAnswers } from '@/shared/data/conversations/liveAnswers';
import { useThreads } from '@/shared/data/conversations/thread';
import type { Place } from '@/shared/data/scope';
import { takeUp } from './talk';

/** Takes up the newest answer under way in the conversation that is shown, if there is one and this page does not. */
export function useTakingUp(place: Place) {
  const threads = useThreads();
  const { data, dataUpdatedAt } = useLiveAnswers(place.conversation || null);
  const answer = data?.findLast(({ question_id }) => question_id !== null);
  useEffect(() => {
    if (answer)
      takeUp(threads, place, answer).catch((error: unknown) =>
        notifyFailure('Could not show the answer in progress', error),
      );
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once for each time that the server has told of it
  }, [dataUpdatedAt]);
}

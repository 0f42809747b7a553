import { useEffect, useRef } from 'react';
import { notifyFailure } from '@/shared/components/notify';
import type { useThread } from '../api/thread';
import { useBranch } from '../api/thread-branch';

/** Loads the thread up to a message that an address names, and chooses its branch where it is on another one. */
export function useSought(
  conversation: string | null,
  sought: number | null,
  { data, older }: ReturnType<typeof useThread>,
): void {
  const { mutate: choose } = useBranch(conversation ?? '');
  const { mutate: load, isPending, isError } = older;
  const chosen = useRef<number | null>(null);
  const isLoaded = data?.messages.some(message => message.id === sought) ?? false;
  const cursor = data?.older ?? null;
  const isReady = data !== undefined && !isPending && !isError;

  useEffect(() => {
    if (sought === null || isLoaded || !isReady) return;
    if (cursor !== null) {
      load({ cursor, isSeeking: true });
      return;
    }
    if (chosen.current === sought) return;
    chosen.current = sought;
    choose(sought, { onError: error => notifyFailure('That message could not be shown', error) });
  }, [sought, isLoaded, isReady, cursor, load, choose]);
}

import { useEffect, useRef } from 'react';
import { notifyFailure } from '@/shared/components/notify';
import { type Message, useWay } from '@/shared/data/conversations/messages';
import { useBranch, type useThread } from '@/shared/data/conversations/thread';
import { endsOf, type Further } from '@/shared/data/further';

/** What is shown in place of the newest messages. */
export interface Past {
  messages: Message[];
  older: Further;
  newer: Further;
}

/**
 * What is around a message that an address names, where that is far from the newest messages; its branch is chosen
 * where it is on another one.
 */
export function useSought(
  conversation: string | null,
  sought: number | null,
  { data }: ReturnType<typeof useThread>,
): Past | null {
  const isFar = sought !== null && data !== undefined && !data.messages.some(message => message.id === sought);
  const isWanted = isFar && conversation !== null;
  const past = useWay(conversation ?? '', { around: sought, enabled: isWanted });
  const { mutate: choose } = useBranch(conversation ?? '');
  const found = isFar ? past.messages.find(message => message.id === sought) : undefined;
  const isOnThread = found?.on_thread;
  const seen = useRef<number | null>(null);

  useEffect(() => {
    if (isOnThread === undefined || seen.current === sought) return;
    seen.current = sought;
    if (!isOnThread && sought !== null)
      choose(sought, { onError: error => notifyFailure('Could not show that message', error) });
  }, [sought, isOnThread, choose]);
  const error = isFar && past.data === undefined ? past.error : null;
  useEffect(() => {
    if (error) notifyFailure('Could not show that message', error);
  }, [error]);

  if (!found?.on_thread) return null;
  return { messages: past.messages, ...endsOf(past) };
}

import { useState } from 'react';
import { useWay } from '@/shared/data/conversations/messages';
import { endsOf } from '@/shared/data/further';
import { viewAt, viewFor, viewOf } from './view';

/** The part of a conversation that is looked at, and what of it is loaded: little at a time, from there on. */
export function useTranscript(id: string, message: number | null) {
  const [view, setView] = useState(() => viewOf(message));
  const way = useWay(id, { around: view.around, orEnd: true });
  if (view.message !== message) setView(viewFor(message, view, way.isPlaceholderData ? [] : way.messages));

  return {
    ...{ view, messages: way.messages, offset: way.offset, ...endsOf(way) },
    isReady: way.data !== undefined && !way.isPlaceholderData && view.message === message,
    error: way.data === undefined ? way.error : null,
    refetch: () => void way.refetch(),
    goTo: (end: 'start' | 'end') => setView(viewAt(end, view)),
  };
}

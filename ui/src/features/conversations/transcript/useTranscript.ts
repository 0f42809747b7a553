import { useState } from 'react';
import { useWay } from '../api/getMessages';
import type { Further } from './Transcript';
import { viewAt, viewFor, viewOf } from './view';

/** The part of a conversation that is looked at, and what of it is loaded: little at a time, from there on. */
export function useTranscript(id: string, message: number | null) {
  const [view, setView] = useState(() => viewOf(message));
  const way = useWay(id, view.around);
  if (view.message !== message) setView(viewFor(message, view, way.isPlaceholderData ? [] : way.messages));

  const earlier: Further = {
    state: further(way.hasPreviousPage, way.isFetchingPreviousPage, way.isFetchPreviousPageError),
    load: () => void way.fetchPreviousPage(),
  };
  const later: Further = {
    state: further(way.hasNextPage, way.isFetchingNextPage, way.isFetchNextPageError),
    load: () => void way.fetchNextPage(),
  };
  return {
    ...{ view, earlier, later, messages: way.messages, offset: way.offset },
    isReady: way.data !== undefined && !way.isPlaceholderData && view.message === message,
    error: way.data === undefined ? way.error : null,
    refetch: () => void way.refetch(),
    goTo: (end: 'start' | 'end') => setView(viewAt(end, view)),
  };
}

function further(isThere: boolean, isLoading: boolean, hasFailed: boolean): Further['state'] {
  if (!isThere) return 'none';
  if (isLoading) return 'loading';
  return hasFailed ? 'failed' : 'more';
}

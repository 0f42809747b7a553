import type { QueryClient } from '@tanstack/react-query';
import { CONVERSATIONS } from '../api/conversations';
import { type Place, threadKey } from '../api/thread';
import { turnOf } from './turns';

/**
 * Open tabs of one browser tell each other what was said: a message is put behind what its tab shows, and would begin
 * a branch where that is not the newest.
 */
const tabs = new BroadcastChannel('mnemoirSaid');

export function tellOtherTabs({ user, project, conversation }: Place): void {
  tabs.postMessage({ user, project, conversation } satisfies Place);
}

/**
 * Looks anew at what another tab has changed; returns what ends that. A conversation that is being answered here looks
 * by itself when that is done.
 */
export function followOtherTabs(queries: QueryClient): () => void {
  const onMessage = ({ data }: MessageEvent<Place>) => {
    const turn = turnOf(data);
    if (!turn || turn.state === 'failed') void queries.invalidateQueries({ queryKey: threadKey(data) });
    void queries.invalidateQueries({ queryKey: CONVERSATIONS });
  };
  tabs.addEventListener('message', onMessage);
  return () => tabs.removeEventListener('message', onMessage);
}

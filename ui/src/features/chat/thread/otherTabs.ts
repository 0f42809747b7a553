import type { Place } from '@/shared/data/scope';
import type { Threads } from '@/shared/data/conversations/thread';
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
export function followOtherTabs(threads: Threads): () => void {
  const onMessage = ({ data }: MessageEvent<Place>) => {
    const turn = turnOf(data);
    if (!turn || turn.state === 'failed') threads.outdated(data);
    threads.said();
  };
  tabs.addEventListener('message', onMessage);
  return () => tabs.removeEventListener('message', onMessage);
}

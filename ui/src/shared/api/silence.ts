import { useSyncExternalStore } from 'react';

let isSilent = false;
const listeners = new Set<() => void>();

function set(value: boolean): void {
  if (value === isSilent) return;
  isSilent = value;
  for (const notify of listeners) notify();
}

/** The server answered a request, whatever it said. */
export const noteAnswer = () => set(false);

/** A request got no answer: the server, or the network, is gone. */
export const noteSilence = () => set(true);

/** Whether the last request that ended got no answer. */
export const useSilence = () => useSyncExternalStore(subscribe, () => isSilent);

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

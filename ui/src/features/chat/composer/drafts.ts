import { useSyncExternalStore } from 'react';
import type { Place } from '@/shared/data/scope';

/**
 * What was typed and not sent yet, by conversation. While a message is on its way its words are held: they are out of
 * the composer, and still in local storage until the server has stored them.
 */
const held = new Set<string>();
const unkept = new Map<string, string>(); // what local storage had no room for: it lasts as long as the page
const listeners = new Set<() => void>();

const nameOf = ({ user, project, conversation }: Place) => `mnemoirDraft:${project}:${user}:${conversation}`;

export function draftOf(place: Place): string {
  const name = nameOf(place);
  return held.has(name) ? '' : (unkept.get(name) ?? localStorage.getItem(name) ?? '');
}

export function writeDraft(place: Place, text: string): void {
  const name = nameOf(place);
  held.delete(name);
  keep(name, text);
}

export function holdDraft(place: Place, text: string): void {
  const name = nameOf(place);
  held.add(name);
  keep(name, text);
}

/** The held words are stored elsewhere now. */
export function releaseDraft(place: Place): void {
  if (held.delete(nameOf(place))) keep(nameOf(place), '');
}

/** The composer of that conversation has the words again, before what was typed since. */
export function giveBack(place: Place, text: string): void {
  const since = draftOf(place);
  writeDraft(place, since.trim() ? `${text}\n\n${since}` : text);
}

export function useDraft(place: Place): string {
  return useSyncExternalStore(subscribe, () => draftOf(place));
}

function keep(name: string, text: string): void {
  unkept.delete(name);
  try {
    if (text) localStorage.setItem(name, text);
    else localStorage.removeItem(name);
  } catch {
    unkept.set(name, text);
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

/** The API key of this server, where it asks for one: kept for this tab, or for this device if the user says so. */

const NAME = 'mnemoirKey';
const NEEDED = 'mnemoirKeyNeeded';

export function apiKey(): string | null {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);
}

export function keepKey(key: string, onDevice: boolean): void {
  dropKey();
  (onDevice ? localStorage : sessionStorage).setItem(NAME, key);
}

export function dropKey(): void {
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
}

export function reportMissingKey(): void {
  window.dispatchEvent(new Event(NEEDED));
}

/** Calls back when the server refused a request for want of a key; returns what ends that. */
export function onMissingKey(callback: () => void): () => void {
  window.addEventListener(NEEDED, callback);
  return () => window.removeEventListener(NEEDED, callback);
}

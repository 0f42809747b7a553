/**
 * How requests say who calls, where the server asks: the API key, kept for this tab, or for this device if the user says
 * so; or the session of somebody who signed in, whose cookie no script can read.
 */

const NAME = 'mnemoirKey';
const NEEDED = 'mnemoirKeyNeeded';

/** Sent beside the cookie of somebody who signed in: without it the cookie lets nothing be changed. */
let csrf: string | null = null;

export function keepSession(token: string | null): void {
  csrf = token;
}

/** The headers by which the server knows who calls; a key comes before a session. */
export function authorisation(): Record<string, string> {
  const key = apiKey();
  if (key) return { Authorization: `Bearer ${key}` };
  return csrf ? { 'X-Mnemoir-CSRF': csrf } : {};
}

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

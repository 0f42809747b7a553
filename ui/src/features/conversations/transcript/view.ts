import type { Message } from '@/shared/data/conversations/messages';

/** What of a conversation is loaded, and where in it one looks first. */
export interface View {
  /** The message of the address for which this was chosen. */
  message: number | null;
  /** Around which message the way is loaded: 0 for its beginning, null for the end of the thread. */
  around: number | null;
  show: 'message' | 'start' | 'end';
}

export function viewOf(message: number | null): View {
  return { message, around: message, show: message === null ? 'end' : 'message' };
}

/** The view for another message: what is loaded stays if the message is a part of it. */
export function viewFor(message: number | null, now: View, loaded: readonly Message[]): View {
  const isLoaded = message !== null && loaded.some(each => each.id === message);
  return isLoaded ? { message, around: now.around, show: 'message' } : viewOf(message);
}

/** One end of the conversation, which may be far from what is loaded. */
export function viewAt(end: 'start' | 'end', now: View): View {
  return { message: now.message, around: end === 'start' ? 0 : null, show: end };
}

/** Whether a branch that begins with a message is a part of what is shown, loaded or not. */
export function isOnWay(first: number, onThread: boolean, loaded: readonly Message[]): boolean {
  if (loaded.some(each => each.id === first)) return true;
  const [oldest, newest] = [loaded[0], loaded.at(-1)];
  if (!onThread || !oldest || !newest) return false;
  return (first < oldest.id && oldest.on_thread) || (first > newest.id && newest.on_thread);
}

import type { Scope } from '@/shared/data/scope';

const NAME = 'memoriesReviewed';
const MOST = 500; // cards; those of earlier weeks do not come again but for what is unused

const nameOf = ({ user, project }: Scope) => `${NAME} ${JSON.stringify([project, user])}`;

/** The keys of the cards that were looked at in this browser. */
export function readSeen(owner: Scope): ReadonlySet<string> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(nameOf(owner)) ?? '[]');
    return new Set(Array.isArray(kept) ? kept.filter(key => typeof key === 'string') : []);
  } catch {
    return new Set(); // somebody else's value, or a browser that keeps nothing
  }
}

/** Notes that a card was looked at, or that it is to be looked at again. */
export function noteSeen(owner: Scope, key: string, isSeen: boolean): void {
  const others = [...readSeen(owner)].filter(other => other !== key);
  try {
    localStorage.setItem(nameOf(owner), JSON.stringify([...others, ...(isSeen ? [key] : [])].slice(-MOST)));
  } catch {
    // a browser that keeps nothing shows the card again next time
  }
}

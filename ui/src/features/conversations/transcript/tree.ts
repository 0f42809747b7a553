import type { Message } from '../api/getMessages';

const ROOT = 0;

/** The messages of all branches, by id and by what stands behind what. */
export interface Tree {
  byId: ReadonlyMap<number, Message>;
  /** Oldest first; 0 is the beginning. */
  behind: ReadonlyMap<number, readonly number[]>;
  parentOf: ReadonlyMap<number, number>;
}

/** `messages` by id, oldest first, as the server gives them. */
export function treeOf(messages: readonly Message[]): Tree {
  const byId = new Map(messages.map(message => [message.id, message]));
  const behind = new Map<number, number[]>();
  const parentOf = new Map<number, number>();
  messages.forEach((message, at) => {
    // messages of the time before there were branches name no parent and stand one behind the other
    const isOld = message.parent_id === null && !message.siblings.includes(message.id);
    const parent = (isOld ? messages[at - 1]?.id : message.parent_id) ?? ROOT;
    const known = parent === ROOT || byId.has(parent) ? parent : ROOT; // a damaged message may be left out
    parentOf.set(message.id, known);
    const others = behind.get(known);
    if (others) others.push(message.id);
    else behind.set(known, [message.id]);
  });
  return { byId, behind, parentOf };
}

/** What stands behind a message's parent, itself among it, oldest first. */
export function siblingsOf(tree: Tree, id: number): readonly number[] {
  return tree.behind.get(tree.parentOf.get(id) ?? ROOT) ?? [];
}

/** The way through a message: from the beginning to it, and on along the thread, or to the newest end behind it. */
export function wayThrough(tree: Tree, id: number, head: number | null): Message[] {
  const way: Message[] = [];
  for (let at = tree.byId.get(id); at; at = tree.byId.get(tree.parentOf.get(at.id) ?? ROOT)) way.push(at);
  way.reverse();
  for (let end = id; end !== head;) {
    const next = nextOf(tree, end);
    const message = next === undefined ? undefined : tree.byId.get(next);
    if (!message) break;
    way.push(message);
    end = message.id;
  }
  return way;
}

/** The thread, or the way through `chosen` where that is a message of the conversation. */
export function shownWay(tree: Tree, head: number | null, chosen: number | null): Message[] {
  if (chosen !== null && tree.byId.has(chosen)) return wayThrough(tree, chosen, head);
  const end = head ?? tree.behind.get(ROOT)?.at(-1);
  return end === undefined ? [] : wayThrough(tree, end, head);
}

function nextOf(tree: Tree, id: number): number | undefined {
  const behind = tree.behind.get(id) ?? [];
  return behind.find(each => tree.byId.get(each)?.on_thread) ?? behind.at(-1);
}

/** A run of messages without a branch in it: what the overview shows as one row. */
export interface Stretch {
  first: Message;
  last: Message;
  count: number;
  depth: number;
  /** How many begin at the same place, and which of them this is, from 1. */
  of: number;
  place: number;
}

/** All stretches, each behind the one that it branches off, oldest branch first. */
export function stretchesOf(tree: Tree): Stretch[] {
  const found: Stretch[] = [];
  const waiting = beginnings(tree, ROOT, 0);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const stretch = followed(tree, next);
    found.push(stretch);
    waiting.push(...beginnings(tree, stretch.last.id, stretch.depth + 1));
  }
  return found;
}

interface Beginning {
  id: number;
  depth: number;
  of: number;
  place: number;
}

/** Newest first: a stack gives the oldest. */
function beginnings(tree: Tree, behind: number, depth: number): Beginning[] {
  const ids = tree.behind.get(behind) ?? [];
  return ids.map((id, at) => ({ id, depth, of: ids.length, place: at + 1 })).reverse();
}

function followed(tree: Tree, { id, depth, of, place }: Beginning): Stretch {
  const first = tree.byId.get(id) as Message;
  let last = first;
  let count = 1;
  for (let ids = tree.behind.get(last.id); ids?.length === 1; ids = tree.behind.get(last.id)) {
    last = tree.byId.get(ids[0] ?? ROOT) ?? last;
    count += 1;
  }
  return { first, last, count, depth, of, place };
}

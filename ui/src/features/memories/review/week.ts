import type { LoggedChange } from '@/shared/data/memories/changes';
import type { ListedMemory } from '@/shared/data/memories/list';
import type { MapPoint } from '@/shared/data/memories/map';
import type { Proposal } from '@/shared/data/memories/proposals';

/** One thing to look at: a memory that is new, changed, ended, doubted, or of no use so far. */
export interface Card {
  key: string;
  kind: 'contradicts' | 'closed' | 'changed' | 'learned' | 'unused';
  memoryId: string;
  text: string;
  /** What it said before; null where it did not exist. */
  before: string | null;
  at: string;
  /** The change that can be taken back; "" for none. */
  changeId: string;
  /** The proposal that waits; "" for none. */
  proposalId: string;
}

export const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const UNUSED_MS = 90 * DAY_MS;
const MOST_UNUSED = 5; // a week

/** Reasons of what a person did or approved by hand, who need not look at it again. */
const BY_HAND = new Set([
  ...['edit', 'confirmed', 'restored', 'undone', 'request', 'import'],
  ...['unconfirmed', 'suspected_instruction'],
]);
const BY_HAND_WITH_A_NAME = /^(merged|moved (to|from) )/;

const isByHand = (reason: string) => BY_HAND.has(reason) || BY_HAND_WITH_A_NAME.test(reason);

interface Found {
  learned: readonly ListedMemory[];
  changes: readonly LoggedChange[];
  proposals: readonly Proposal[];
  points: readonly MapPoint[];
  /** Keys of what was looked at before. */
  seen: ReadonlySet<string>;
  now: number;
}

/** What of the last seven days is to be looked at: doubts first, then what ended and changed, what is new, and what nothing asked for. */
export function cardsOf({ learned, changes, proposals, points, seen, now }: Found): Card[] {
  const since = now - WEEK_MS;
  const cards = [
    ...proposals.filter(({ reason }) => reason === 'unconfirmed').map(ofProposal),
    ...changes.filter(change => Date.parse(change.created_at) >= since).flatMap(ofChange),
    ...learned.filter(({ created_at }) => Date.parse(created_at) >= since).map(memory => ofMemory(memory, 'learned')),
    ...unused(points, now - UNUSED_MS),
  ];
  const told = new Set<string>();
  return cards.filter(({ key, memoryId }) => {
    if (seen.has(key) || told.has(memoryId)) return false;
    told.add(memoryId);
    return true;
  });
}

function ofProposal({ id, memory_id, memory, previous_memory, created_at }: Proposal): Card {
  const text = { text: memory, before: previous_memory, at: created_at };
  return { key: id, kind: 'contradicts', memoryId: memory_id ?? id, ...text, changeId: '', proposalId: id };
}

function ofChange({ id, created_at, rows, undo_of, undone_by }: LoggedChange): Card[] {
  if (undo_of !== null || undone_by !== null) return [];
  return rows.flatMap(({ event, reason, memory_id, old_memory, new_memory }): Card[] => {
    if (event === 'ADD' || old_memory === new_memory || isByHand(reason)) return [];
    const kind = event === 'DELETE' ? 'closed' : 'changed';
    const text = { text: new_memory ?? old_memory ?? '', before: old_memory, at: created_at };
    return [{ key: `${id} ${memory_id}`, kind, memoryId: memory_id, ...text, changeId: id, proposalId: '' }];
  });
}

function ofMemory(
  { id, memory, created_at }: Pick<ListedMemory, 'id' | 'memory' | 'created_at'>,
  kind: Card['kind'],
): Card {
  return { key: id, kind, memoryId: id, text: memory, before: null, at: created_at, changeId: '', proposalId: '' };
}

/** The oldest that no answer was given, where any answer was given anything. */
function unused(points: readonly MapPoint[], before: number): Card[] {
  if (points.every(({ recalls }) => recalls === 0)) return [];
  return points
    .filter(({ recalls, created_at }) => recalls === 0 && Date.parse(created_at) < before)
    .sort((a, b) => a.created_at.localeCompare(b.created_at))
    .slice(0, MOST_UNUSED)
    .map(point => ofMemory(point, 'unused'));
}

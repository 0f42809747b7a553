import type { Hit, ListedMemory, Memory } from '@/shared/data/memories/list';

/** A row of the list: a memory, how it stands, and, in a search, how well it fits. */
export interface Row {
  memory: Memory;
  kind: ListedMemory['kind'];
  state?: ListedMemory['state'];
  decaysAt?: string | null;
  hit?: Hit;
  /** The time that the list goes by. */
  at: string;
  /** What stands above it: the day, where that is another than of the row before, or that it and the next fit less. */
  heading?: string;
}

const dayOf = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

export function rowsOfList(
  memories: readonly ListedMemory[],
  withDays: boolean,
  by: 'created_at' | 'updated_at',
): Row[] {
  let last = '';
  return memories.map(memory => {
    const at = memory[by];
    const day = withDays ? nameOfDay(at) : '';
    const heading = day === last ? undefined : day;
    last = day;
    const known = made.get(memory);
    if (known?.at === at && known.heading === heading) return known;
    const row: Row = { memory, kind: memory.kind, at, state: memory.state, decaysAt: memory.decays_at };
    if (heading !== undefined) row.heading = heading;
    made.set(memory, row);
    return row;
  });
}

/** Rows that were made: one that stays the same when a page comes is not drawn again. */
const made = new WeakMap<ListedMemory, Row>();

/** What fits, best first, and below a line what has nothing in common with the question. */
export function rowsOfSearch(hits: readonly Hit[]): Row[] {
  const likely = hits.filter(isLikely);
  const rows = [...likely, ...hits.filter(hit => !isLikely(hit))].map((hit): Row => ({
    memory: hit,
    kind: hit.role ? 'message' : 'fact',
    at: hit.created_at,
    hit,
  }));
  const below = rows[likely.length];
  if (below) below.heading = 'Less likely';
  return rows;
}

export const isLikely = (hit: Hit) => hit.likely !== false;

function nameOfDay(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? 'No date' : dayOf.format(date);
}

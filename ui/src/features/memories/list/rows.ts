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
  /** The day of it, where that is another than of the row before. */
  day?: string;
}

const dayOf = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

export function rowsOfList(
  memories: readonly ListedMemory[],
  withDays: boolean,
  by: 'created_at' | 'updated_at',
): Row[] {
  let last = '';
  return memories.map(memory => {
    const row: Row = { memory, kind: memory.kind, at: memory[by], state: memory.state, decaysAt: memory.decays_at };
    const day = withDays ? nameOfDay(memory[by]) : '';
    if (day !== last) row.day = day;
    last = day;
    return row;
  });
}

export function rowsOfSearch(hits: readonly Hit[]): Row[] {
  return hits.map(hit => ({ memory: hit, kind: hit.role ? 'message' : 'fact', at: hit.created_at, hit }));
}

function nameOfDay(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? 'No known time' : dayOf.format(date);
}

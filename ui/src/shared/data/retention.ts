/** What is kept for days: memories, what happened to them, and deleted ones. */
export const KEPT = ['memories', 'history', 'deleted'] as const;
export type Kept = (typeof KEPT)[number];

export const NAMES: Record<Kept, string> = {
  memories: 'Memories',
  history: 'History of memories',
  deleted: 'Deleted memories',
};

/** Days as answers and requests have them, by the names of a tenant's or of a project's. 0 is forever. */
export type Said = Record<string, number>;
export const ofTenant = (kept: Kept) => `${kept}_days` as const;
export const ofProject = (kept: Kept) => `${kept}Days` as const;

/** Days as fields have them: empty for what is said elsewhere, a text for what is no number yet. */
export type Days = Record<Kept, number | string>;

/** The days that are said, with an empty field for the rest. */
export function daysOf(said: Said, nameOf: (kept: Kept) => string): Days {
  const of = (kept: Kept) => said[nameOf(kept)] ?? '';
  return { memories: of('memories'), history: of('history'), deleted: of('deleted') };
}

/** Every field is empty or a number. */
export const areDays = (days: Days) => KEPT.every(kept => days[kept] === '' || typeof days[kept] === 'number');

/** Days in words. */
export function daysInWords(days: number | string): string {
  if (!days) return 'forever';
  return days === 1 ? '1 day' : `${days.toLocaleString()} days`;
}

type ProjectDays = Partial<Record<ReturnType<typeof ofProject>, number | null>>;

/** The days of a project that differ, as the request says them: null is said elsewhere. */
export function changedDays(before: Days, now: Days): ProjectDays {
  const changed = KEPT.filter(kept => now[kept] !== before[kept]);
  return Object.fromEntries(changed.map(kept => [ofProject(kept), numberOf(now[kept])]));
}

/** All days that a tenant says itself, as the request says them. */
export function ownDays(days: Days): Said {
  const own = KEPT.map(kept => [ofTenant(kept), numberOf(days[kept])] as const);
  return Object.fromEntries(own.filter((each): each is [(typeof each)[0], number] => each[1] !== null));
}

const numberOf = (days: number | string) => (typeof days === 'number' ? days : null);

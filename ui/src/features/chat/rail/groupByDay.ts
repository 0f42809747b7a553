/** A list with headings in between, as one sequence of rows. */
export type Grouped<Item> = { heading: string } | { item: Item };

const monthAndYear = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });
const DAY_MS = 86_400_000;

/** Items, newest first, below the day they belong to: today, yesterday, the last seven days, then months. */
export function groupByDay<Item>(
  items: readonly Item[],
  at: (item: Item) => string,
  now = new Date(),
): Grouped<Item>[] {
  const rows: Grouped<Item>[] = [];
  let last = '';
  for (const item of items) {
    const heading = dayGroup(new Date(at(item)), now);
    if (heading !== last) rows.push({ heading });
    last = heading;
    rows.push({ item });
  }
  return rows;
}

export function dayGroup(date: Date, now: Date): string {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const days = Math.ceil((midnight.getTime() - date.getTime()) / DAY_MS);
  if (days <= 0) return 'Today';
  if (days === 1) return 'Yesterday';
  if (days <= 7) return 'Previous 7 days';
  return monthAndYear.format(date);
}

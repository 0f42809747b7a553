/** A time of work, as short as it can be read: 0.4 ms, 23 ms, 1.8 s. */
export function milliseconds(ms: number | null): string {
  if (ms === null) return '–';
  if (ms >= 1000) return `${number(ms / 1000, 1)} s`;
  return `${number(ms, ms < 10 ? 1 : 0)} ms`;
}

/** How long something has been going on: "3 days, 4 hours". */
export function lasting(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  if (days) return `${plural(days, 'day')}, ${plural(hours, 'hour')}`;
  if (hours) return `${plural(hours, 'hour')}, ${plural(minutes, 'minute')}`;
  return minutes ? plural(minutes, 'minute') : 'less than a minute';
}

export function plural(count: number, thing: string): string {
  return `${count.toLocaleString()} ${thing}${count === 1 ? '' : 's'}`;
}

/** A count, or a dash while the server still counts. */
export function counted(count: number | null): string {
  return count === null ? '…' : count.toLocaleString();
}

export function percent(done: number, of: number): number {
  // all of them is 100, and nothing less is
  return of === 0 || done >= of ? 100 : Math.min(99, Math.floor((done / of) * 100));
}

function number(value: number, digits: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: digits });
}

const hours = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** The time of day of an instant, here. */
export function clock(instant: string): string {
  return hours.format(new Date(instant));
}

const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A UTC day, such as 2026-03-04, for people. */
export function dayOf(day: string): string {
  return days.format(new Date(day));
}

import type { Origin } from '@/shared/data/memories/list';
import type { Timeline } from '@/shared/data/memories/timeline';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const FIRST_MONDAY_MS = 4 * DAY_MS; // 1970-01-05
const STEPS = [1, 2, 4, 13, 26, 52];
const LONG = 520; // weeks: of a longer time the oldest hundredth, and at least one memory, becomes one bar
const LEAST_SHOWN = 0.06; // of the highest bar: below that nobody sees it

/** Where memories come from, as the strip tells it apart: the lowest of a bar first. */
export const GROUPS = ['chat', 'import', 'app', 'hand'] as const;
export type Group = (typeof GROUPS)[number];

const GROUP_OF: Record<Origin, Group> = {
  user: 'chat',
  assistant: 'chat',
  tool: 'chat',
  document: 'chat',
  import: 'import',
  api: 'app',
  person: 'hand',
};

/** The weeks from `first` to `last`, numbered from the one of 1970-01-05. */
export interface Bar {
  first: number;
  last: number;
  learned: Record<Group, number>;
  total: number;
  changed: number;
  /** The last bar, of all that lies behind the present. */
  isLater?: boolean;
}

/** The week that an instant is in. */
export const weekAt = (ms: number) => Math.floor((ms - FIRST_MONDAY_MS) / WEEK_MS);
/** The Monday of a week, as YYYY-MM-DD. */
export const mondayOf = (week: number) => new Date(FIRST_MONDAY_MS + week * WEEK_MS).toISOString().slice(0, 10);
const sundayOf = (week: number) => new Date(FIRST_MONDAY_MS + (week + 1) * WEEK_MS - 1).toISOString().slice(0, 10);
export const weekOf = (day: string) => weekAt(Date.parse(day));

/** The weeks that a strip shows, and how many of them one bar holds. */
export interface Span {
  first: number;
  bars: number;
  step: number;
}

/** From the first week to the present one, as at most so many bars; null where no memory has a time. */
export function spanOf(timeline: Timeline, now: number, mostBars: number): Span | null {
  const weeks = timeline.weeks.map(({ week, learned }) => ({
    week: weekOf(week),
    count: sum(Object.values(learned)),
  }));
  const [oldest] = weeks;
  if (!oldest) return null;
  const last = weekAt(now);
  const found = last - oldest.week < LONG ? oldest.week : firstOfMost(weeks);
  const first = Math.min(last, found);
  const step = STEPS.find(each => each * mostBars > last - first) ?? Math.ceil((last - first + 1) / mostBars);
  const bars = Math.ceil((last - first + 1) / step);
  return { first: last - bars * step + 1, bars, step };
}

function firstOfMost(weeks: readonly { week: number; count: number }[]): number {
  let left = Math.max(1, Math.floor(sum(weeks.map(({ count }) => count)) / 100));
  return weeks.find(({ count }) => (left -= count) < 0)?.week ?? Infinity;
}

/** The bars of a span. What is older than all of them is in the first; what lies behind them has one of its own. */
export function barsOf(timeline: Timeline, { first, bars: number, step }: Span): Bar[] {
  const bars = Array.from({ length: number }, (_, at): Bar => {
    const learned = { chat: 0, import: 0, app: 0, hand: 0 };
    return { first: first + at * step, last: first + at * step + step - 1, learned, total: 0, changed: 0 };
  });
  const end = first + number * step;
  const newest = Math.max(...timeline.weeks.map(({ week }) => weekOf(week)));
  if (newest >= end) {
    const learned = { chat: 0, import: 0, app: 0, hand: 0 };
    bars.push({ first: end, last: newest, learned, total: 0, changed: 0, isLater: true });
  }
  for (const { week: day, learned, changed } of timeline.weeks) {
    const week = weekOf(day);
    const bar = bars[Math.min(number, Math.max(0, Math.floor((week - first) / step)))];
    if (!bar) continue;
    bar.first = Math.min(bar.first, week);
    bar.changed += changed;
    for (const [origin, count] of Object.entries(learned)) {
      bar.learned[GROUP_OF[origin as Origin]] += count;
      bar.total += count;
    }
  }
  return bars;
}

/** How many of the memories were learned in the week of `now`. */
export function newInWeekOf({ weeks }: Timeline, now: number): number {
  const present = weeks.find(({ week }) => weekOf(week) === weekAt(now));
  return present ? sum(Object.values(present.learned)) : 0;
}

/** How high each part of each bar is drawn, by group: a small bar beside a large one can still be seen. */
export function heightsOf(bars: readonly Bar[]): number[][] {
  const least = Math.max(...bars.map(({ total }) => total)) * LEAST_SHOWN;
  return GROUPS.map(group =>
    bars.map(({ learned, total }) => (total ? (learned[group] / total) * Math.max(total, least) : 0)),
  );
}

const dayIn = (withYear: boolean) =>
  new Intl.DateTimeFormat(undefined, {
    day: 'numeric',
    month: 'short',
    ...(withYear && { year: 'numeric' }),
    timeZone: 'UTC',
  });
const shortDay = dayIn(false);
const longDay = dayIn(true);

/** A UTC day for people, with its year unless that is the present one. */
export function dayInWords(day: string, now: number): string {
  const date = new Date(day);
  return (date.getUTCFullYear() === new Date(now).getUTCFullYear() ? shortDay : longDay).format(date);
}

/** What bars hold together: "Week of 12 Oct: 14 learned, 3 changed". */
export function barsInWords(bars: readonly Bar[], now: number): string {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return '';
  const from = dayInWords(mondayOf(first.first), now);
  const until = last.isLater ? 'later' : dayInWords(sundayOf(last.last), now);
  const isWeek = first.first === last.last && !last.isLater;
  const when = isWeek
    ? `Week of ${from}`
    : first.isLater
      ? `Later than ${dayInWords(sundayOf(first.first - 1), now)}`
      : `${from} to ${until}`;
  const learned = sum(bars.map(({ total }) => total));
  const changed = sum(bars.map(bar => bar.changed));
  return `${when}: ${learned.toLocaleString()} learned${changed ? `, ${changed.toLocaleString()} changed` : ''}`;
}

/** Which bars show what was learned from one day on and before another; "" for no bound. */
export function rangeOf(bars: readonly Bar[], from: string, until: string): [first: number, last: number] | null {
  if (!from && !until) return null;
  const first = from ? bars.findIndex(bar => bar.last >= weekOf(from)) : 0;
  const last = until ? bars.findLastIndex(bar => bar.first < weekOf(until)) : bars.length - 1;
  return first < 0 || last < first ? null : [first, last];
}

const monthName = new Intl.DateTimeFormat(undefined, { month: 'short', timeZone: 'UTC' });

/** Where the axis names a month or a year, at most `most` times: places of bars and names. */
export function marksOf(bars: readonly Bar[], most: number): { at: number; name: string }[] {
  const dates = bars.map(bar => new Date(mondayOf(bar.last)));
  const begins = (months: number) =>
    dates.flatMap((date, at) => {
      const before = dates[at - 1];
      const hasRoom = at < bars.length * 0.95 && !bars[at]?.isLater; // a name stands at the right of its place
      return hasRoom && before && unit(date, months) !== unit(before, months) ? [at] : [];
    });
  const found = [1, 3, 6, 12, 24, 60, 120, 600].map(begins).find(places => places.length <= most) ?? [];
  return found.map(at => ({ at, name: nameOf(dates[at], dates[at - 1]) }));
}

const unit = (date: Date, months: number) => Math.floor((date.getUTCFullYear() * 12 + date.getUTCMonth()) / months);

function nameOf(date: Date | undefined, before: Date | undefined): string {
  if (!date) return '';
  return date.getUTCFullYear() === before?.getUTCFullYear() ? monthName.format(date) : String(date.getUTCFullYear());
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

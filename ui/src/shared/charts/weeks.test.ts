import type { Timeline } from '@/shared/data/memories/timeline';
import { barsInWords, barsOf, heightsOf, marksOf, mondayOf, rangeOf, spanOf, weekOf } from './weeks';

const NOW = Date.parse('2026-11-18T12:00:00Z'); // a Wednesday

function timeline(weeks: Record<string, number | { learned: object; changed: number }>): Timeline {
  return {
    weeks: Object.entries(weeks).map(([week, told]) =>
      typeof told === 'number' ? { week, learned: { user: told }, changed: 0 } : { week, ...told },
    ) as Timeline['weeks'],
    total: 0,
    undated: 0,
  };
}

function barsFrom(told: Timeline, most = 200) {
  const span = spanOf(told, NOW, most);
  if (!span) throw new Error('no week');
  return barsOf(told, span);
}

test('weeks begin on Monday, before 1970, too', () => {
  for (const monday of ['2026-10-12', '1970-01-05', '1969-12-29', '0001-01-01']) {
    expect(mondayOf(weekOf(monday))).toBe(monday);
    expect(weekOf(monday) - weekOf(new Date(Date.parse(monday) - 1).toISOString())).toBe(1);
  }
});

test('there is a bar for each week up to the present one, stacked by where memories come from', () => {
  const bars = barsFrom(
    timeline({
      '2026-10-12': { learned: { user: 5, tool: 1, import: 4, api: 3, person: 2 }, changed: 3 },
      '2026-11-02': 1,
    }),
  );
  expect(bars.map(({ total }) => total)).toEqual([15, 0, 0, 1, 0, 0]);
  expect(bars[0]?.learned).toEqual({ chat: 6, import: 4, app: 3, hand: 2 });
  expect(barsInWords(bars.slice(0, 1), NOW)).toBe('Week of Oct 12: 15 learned, 3 changed');
  expect(barsInWords(bars, NOW)).toBe('Oct 12 to Nov 22: 16 learned, 3 changed');
});

test('where there is no room for all weeks a bar holds several, up to the present one', () => {
  const bars = barsFrom(timeline({ '2025-01-06': 7, '2026-11-16': 2 }), 50);
  expect(bars.length).toBeLessThanOrEqual(50);
  expect(bars.map(({ total }) => total).filter(Boolean)).toEqual([7, 2]);
  expect(bars.at(-1)?.last).toBe(weekOf('2026-11-16'));
});

test('a memory of another age makes no picture of one bar, and is in the first one', () => {
  const bars = barsFrom(timeline({ '0001-01-01': 1, '2026-01-05': 150, '2026-11-16': 50 }));
  expect(bars[0]).toMatchObject({ first: weekOf('0001-01-01'), total: 151 });
  expect(bars).toHaveLength(46);
});

test('one memory of a far past or future leaves the weeks of the others weeks', () => {
  const weeks = { '2026-10-05': 3, '2026-11-16': 2 };
  for (const far of ['1950-01-02', '2090-01-02', '9999-12-27']) {
    const bars = barsFrom(timeline(Object.fromEntries(Object.entries({ ...weeks, [far]: 1 }).sort())), 100);
    const isPast = far < '2000';
    expect(bars.map(({ total }) => total)).toEqual(isPast ? [4, 0, 0, 0, 0, 0, 2] : [3, 0, 0, 0, 0, 0, 2, 1]);
    expect(barsInWords(bars.slice(-1), NOW)).toBe(
      isPast ? 'Week of Nov 16: 2 learned' : 'Later than Nov 22: 1 learned',
    );
    expect(marksOf(bars, 8).map(({ name }) => name)).toEqual(['Nov']);
  }
  expect(barsFrom(timeline({ '1950-01-02': 1 }))).toMatchObject([{ total: 1 }]);
});

test('one memory is one bar, none is no picture', () => {
  expect(barsFrom(timeline({ '2026-11-16': 1 }))).toHaveLength(1);
  expect(spanOf(timeline({}), NOW, 100)).toBeNull();
});

test('a week with one memory can be seen beside one with 5,000', () => {
  const heights = heightsOf(barsFrom(timeline({ '2026-11-02': 1, '2026-11-09': 5000 })));
  expect(heights[0]).toEqual([300, 5000, 0]);
});

test('days of the address are the bars that hold them', () => {
  const bars = barsFrom(timeline({ '2026-10-12': 1 }));
  expect(rangeOf(bars, '', '')).toBeNull();
  expect(rangeOf(bars, '2026-10-19', '2026-11-02')).toEqual([1, 2]);
  expect(rangeOf(bars, '2026-10-19', '')).toEqual([1, 5]);
  expect(rangeOf(bars, '', '2026-10-19')).toEqual([0, 0]);
  expect(rangeOf(bars, '2030-01-01', '')).toBeNull();
});

test('the axis names months, and years where there are many', () => {
  expect(marksOf(barsFrom(timeline({ '2026-09-07': 1 })), 5).map(({ name }) => name)).toEqual(['Oct', 'Nov']);
  expect(marksOf(barsFrom(timeline({ '2020-09-07': 1 }), 400), 8).map(({ name }) => name)).toEqual([
    ...['2021', '2022', '2023', '2024', '2025', '2026'],
  ]);
});

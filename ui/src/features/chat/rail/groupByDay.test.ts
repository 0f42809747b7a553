import { dayGroup, groupByDay } from './groupByDay';

const noon = new Date(2026, 10, 22, 12);
const at = (...parts: [number, number, number, number?]) => new Date(...parts).toISOString();

test('every day has its group, by the local calendar', () => {
  const days: [string, string][] = [
    [at(2026, 10, 22, 0), 'Today'],
    [at(2026, 10, 23, 1), 'Today'], // a clock that is ahead
    [at(2026, 10, 21, 23), 'Yesterday'],
    [at(2026, 10, 20, 23), 'Previous 7 days'],
    [at(2026, 10, 15, 1), 'Previous 7 days'],
    [at(2026, 10, 14, 23), 'November 2026'],
    [at(2025, 11, 31), 'December 2025'],
  ];
  expect(days.map(([day]) => dayGroup(new Date(day), noon))).toEqual(days.map(([, group]) => group));
});

test('a heading stands in front of each group, once', () => {
  const days = [at(2026, 10, 22), at(2026, 10, 22), at(2026, 10, 21)];
  expect(groupByDay(days, day => day, noon)).toEqual([
    { heading: 'Today' },
    { item: days[0] },
    { item: days[1] },
    { heading: 'Yesterday' },
    { item: days[2] },
  ]);
});

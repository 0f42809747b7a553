import type { MapGroup, MapPoint } from '@/shared/data/memories/map';
import { dotsOf } from './dots';
import { isWithin, labelsOf, onScreen, pointAt, pointsWithin, wholeView, zoomed } from './view';

const SIZE = { width: 800, height: 600 };
const VIEW = wholeView(SIZE);

function point(id: string, x: number, y: number, more: Partial<MapPoint> = {}): MapPoint {
  return { id, memory: id, created_at: '', origin: 'user', x, y, group: 0, recalls: 0, ...more };
}

function group(count: number, x: number, words = ['bread', 'rye', 'flour']): MapGroup {
  return { words, x, y: 0, radius: 0.1, count };
}

test('the whole map is in the middle, with an edge around it', () => {
  expect(onScreen(VIEW, { x: 0, y: 0 })).toEqual({ x: 400, y: 300 });
  expect(onScreen(VIEW, { x: 0, y: -1 }).y).toBe(24);
});

test('what lies under the pointer stays there while one zooms, within bounds', () => {
  const at = { x: 200, y: 100 };
  const there = { x: (at.x - VIEW.x) / VIEW.scale, y: (at.y - VIEW.y) / VIEW.scale };
  const near = zoomed(VIEW, at, 3, SIZE);
  expect(onScreen(near, there).x).toBeCloseTo(200);
  expect(onScreen(near, there).y).toBeCloseTo(100);
  expect(zoomed(VIEW, at, 1e6, SIZE).scale).toBe(VIEW.scale * 20);
  expect(zoomed(VIEW, at, 1e-6, SIZE).scale).toBe(VIEW.scale / 2);
});

test('a click means the nearest point that is near', () => {
  const points = [point('a', 0, 0), point('b', 0.02, 0)];
  expect(pointAt(points, VIEW, { x: 404, y: 300 })?.id).toBe('b');
  expect(pointAt(points, VIEW, { x: 440, y: 300 })).toBeUndefined();
});

test('a lasso holds what it goes around, also where it bends inwards', () => {
  const bent = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
    { x: 10, y: 10 },
    { x: 5, y: 4 },
    { x: 0, y: 10 },
  ];
  expect(isWithin({ x: 5, y: 2 }, bent)).toBe(true);
  expect(isWithin({ x: 5, y: 8 }, bent)).toBe(false);
  expect(isWithin({ x: 5, y: 2 }, [])).toBe(false);
  const points = [point('in', 0, 0), point('out', 0.5, 0)];
  const around = [
    { x: 380, y: 280 },
    { x: 420, y: 280 },
    { x: 420, y: 320 },
    { x: 380, y: 320 },
  ];
  expect(pointsWithin(points, VIEW, around).map(({ id }) => id)).toEqual(['in']);
});

test('large groups have their names where there is no room for all', () => {
  const names = labelsOf([group(2, 0.01), group(9, 0), group(5, 0.9)], VIEW, SIZE);
  expect(names.map(label => label.group)).toEqual([1, 2]);
  expect(names[0]?.text).toBe('bread · rye · flour');
  expect(labelsOf([group(3, 0, [])], VIEW, SIZE)[0]?.text).toBe('3 without words');
});

test('five thousand points are a few paths, larger where they were recalled', () => {
  const points = Array.from({ length: 5000 }, (_, at) =>
    point(`${at}`, 0, 0, { group: at % 70, recalls: at % 4 ? 0 : 12 }),
  );
  const dots = dotsOf(points);
  expect(dots.length).toBeLessThanOrEqual(24);
  expect(dots.reduce((sum, { path }) => sum + path.split('M').length - 1, 0)).toBe(5000);
  expect(dots.at(-1)?.width).toBeGreaterThan(dots[0]?.width ?? 0);
});

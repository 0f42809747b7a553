import { fireEvent, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { MapPoint, MemoriesMap } from '@/shared/data/memories/map';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import type { Place } from '../place';
import MapView from './MapView';

const LIMITS = { total: 3, without_vector: 0, left_out: 0 };
const OWNER = { user: 'mira', project: 'default' };

function point(id: string, x: number, group: number): MapPoint {
  const at = '2026-03-01T10:00:00.000Z';
  return { id, memory: `Memory ${id}`, created_at: at, origin: 'user', x, y: 0, group, recalls: 2 };
}

const MAP: MemoriesMap = {
  points: [point('a', -0.5, 0), point('b', -0.48, 0), point('c', 0.5, 1)],
  groups: [
    { words: ['bread', 'rye'], x: -0.5, y: 0.3, radius: 0.3, count: 2 },
    { words: ['cello'], x: 0.5, y: 0.3, radius: 0.3, count: 1 },
  ],
  ...LIMITS,
};

Object.assign(Element.prototype, { setPointerCapture: () => undefined }); // jsdom has none

/** The view over this map, and what it asked for: memories to open or delete, another view. */
function show(map: MemoriesMap) {
  server.use(http.get('*/api/memories/mira/map', () => HttpResponse.json(map)));
  const told: unknown[] = [];
  const place = { view: 'map', id: '', age: '', at: '', q: '', hidden: 'without', ...OWNER } as Place;
  renderAt(
    '/memories',
    <MapView
      place={place}
      owner={OWNER}
      onOpen={id => told.push(['open', id])}
      onView={view => told.push(['view', view])}
      onDelete={ids => told.push(['delete', ids])}
    />,
  );
  return told;
}

const picture = () => screen.findByRole('application', { name: /^Map of memories/ });

/** Without a layout the window is 800 by 600 pixels, and its unit 276. */
const spot = (x: number, y: number) => ({
  clientX: 400 + 276 * x,
  clientY: 300 + 276 * y,
  isPrimary: true,
  button: 0,
});

test('a group is selected by its name with the keyboard, and forgotten', async () => {
  const told = show(MAP);
  expect(await screen.findByText('3 memories in 2 groups')).toBeInTheDocument();
  screen.getByRole('button', { name: 'bread · rye: 2 memories' }).focus();
  await userEvent.keyboard('{Enter}');
  expect(screen.getByRole('status')).toHaveTextContent('2 selected');
  await userEvent.click(screen.getByRole('button', { name: 'Forget' }));
  expect(told).toEqual([['delete', ['a', 'b']]]);
});

test('a lasso selects what it goes around, and Escape lets go of it', async () => {
  show(MAP);
  const map = await picture();
  await userEvent.click(screen.getByRole('radio', { name: 'Lasso' }));
  fireEvent.pointerDown(map, spot(-0.6, -0.1));
  for (const [x, y] of [
    [-0.4, -0.1],
    [-0.4, 0.1],
    [-0.6, 0.1],
  ] as const)
    fireEvent.pointerMove(map, spot(x, y));
  fireEvent.pointerUp(map, spot(-0.6, 0.1));
  expect(screen.getByRole('status')).toHaveTextContent('2 selected');
  map.focus();
  await userEvent.keyboard('{Escape}');
  expect(screen.getByRole('status')).toHaveTextContent('3 memories');
});

test('a click opens the memory that is near, and none where nothing is', async () => {
  const told = show(MAP);
  const map = await picture();
  for (const [x, y] of [
    [0.5, 0],
    [0, -0.9],
  ] as const) {
    fireEvent.pointerDown(map, spot(x, y));
    fireEvent.pointerUp(map, spot(x, y));
  }
  expect(told).toEqual([['open', 'c']]);
});

test('what has no place is said, and why', async () => {
  show({ ...MAP, total: 50_000, left_out: 44_990, without_vector: 10 });
  const told =
    '50,000 memories in 2 groups · shown are 3 of at most 5,000: those recalled, then the newest · 10 wait for a vector';
  expect(await screen.findByText(told)).toBeInTheDocument();
});

test('without vectors and without memories there is a sentence', async () => {
  show({ points: [], groups: [], total: 4, without_vector: 4, left_out: 0 });
  expect(await screen.findByText('No map yet')).toBeInTheDocument();
});

test('buttons zoom the map about its middle, and show all of it again', async () => {
  show(MAP);
  const label = await screen.findByRole('button', { name: /^cello/ });
  const left = () => parseFloat(label.style.left) - 400;
  const before = left();
  await userEvent.click(screen.getByRole('button', { name: 'Zoom in' }));
  await userEvent.click(screen.getByRole('button', { name: 'Zoom in' }));
  await userEvent.click(screen.getByRole('button', { name: 'Zoom out' }));
  expect(left() / before).toBeCloseTo(1.4);
  await userEvent.click(screen.getByRole('button', { name: 'Show the whole map' }));
  expect(left()).toBe(before);
});

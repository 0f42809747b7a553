import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { MemoriesPage } from '../MemoriesPage';
import { mondayOf, weekAt } from '@/shared/charts/weeks';

const THIS_WEEK = weekAt(Date.now());
const week = (ago: number, learned: object, changed = 0) => ({ week: mondayOf(THIS_WEEK - ago), learned, changed });
const WEEKS = [week(8, { user: 14, import: 2 }, 3), week(3, { person: 1 }), week(0, { api: 2 })];

/** A server with these weeks and no rows; what its lists and its timeline were asked for. */
function serveWeeks(weeks: unknown[] = WEEKS) {
  const asked: { list: URLSearchParams[]; timeline: URLSearchParams[] } = { list: [], timeline: [] };
  server.use(
    http.get('*/api/projects', () => HttpResponse.json({ results: [] })),
    http.get('*/api/conversations', () => HttpResponse.json({ results: [], next: null })),
    http.get('*/api/memories/proposals', () => HttpResponse.json({ results: [], total: 0, next: null })),
    http.get('*/api/memories', ({ request }) => {
      asked.list.push(new URL(request.url).searchParams);
      return HttpResponse.json({ results: [], total: 0, next: null });
    }),
    http.get('*/api/memories/:user/timeline', ({ request }) => {
      asked.timeline.push(new URL(request.url).searchParams);
      return HttpResponse.json({ weeks, total: 19, undated: 0 });
    }),
  );
  return asked;
}

beforeEach(() => {
  vi.spyOn(window, 'ResizeObserver').mockImplementation(function (this: unknown, tell: ResizeObserverCallback) {
    const contentRect = {
      width: 800,
      height: 64,
      x: 0,
      y: 0,
      top: 0,
      left: 0,
      bottom: 0,
      right: 0,
    } as DOMRectReadOnly;
    const observe = () => tell([{ contentRect } as ResizeObserverEntry], null as unknown as ResizeObserver);
    return { observe, unobserve: () => undefined, disconnect: () => undefined };
  });
});

test('weeks are chosen with the keyboard, and Escape chooses all', async () => {
  const asked = serveWeeks();
  renderAt('/memories', <MemoriesPage />);
  const first = await screen.findByRole('slider', { name: 'First week' });
  expect(screen.getByText('19 known, 2 new this week')).toBeVisible();
  expect(first).toHaveAttribute('aria-valuetext', expect.stringMatching(/^Week of .*: 16 learned, 3 changed$/));
  first.focus();
  await userEvent.keyboard('{ArrowRight}');
  await waitFor(() => expect(asked.list.at(-1)?.get('since')).toBe(mondayOf(THIS_WEEK - 7)));
  expect(asked.list.at(-1)?.get('until')).toBe(mondayOf(THIS_WEEK + 1));
  expect(await screen.findByText(/: 3 learned$/)).toBeVisible();
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(window.location.search).not.toContain('from'));
  expect(await screen.findByText('19 known, 2 new this week')).toBeVisible();
});

test('at an earlier day the page says so, asks for what held then, and offers no change', async () => {
  const asked = serveWeeks();
  renderAt('/memories', <MemoriesPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Look back' }));
  (await screen.findByRole('slider', { name: 'As of' })).focus();
  await userEvent.keyboard('{Home}');
  expect(await screen.findByText(/^You are looking at the past: what was known on/)).toBeVisible();
  const at = new Date(Date.parse(mondayOf(THIS_WEEK - 7)) - 1).toISOString();
  expect(asked.list.at(-1)?.get('at')).toBe(at);
  expect(asked.timeline.at(-1)?.get('at')).toBe(at);
  expect(screen.queryByRole('button', { name: 'Add a memory' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Back to now' }));
  expect(await screen.findByRole('button', { name: 'Add a memory' })).toBeVisible();
});

test('without a timeline the list is there, and the timeline can be asked for again', async () => {
  const asked = serveWeeks();
  let isGone = true;
  server.use(
    http.get('*/api/memories/:user/timeline', () => {
      if (isGone) return HttpResponse.json({ error: 'The disk is full.', code: 'storage' }, { status: 500 });
      return undefined;
    }),
  );
  renderAt('/memories', <MemoriesPage />);
  expect(await screen.findByText(/^The timeline could not be loaded: The disk is full/)).toBeVisible();
  expect(screen.getByText('No memories yet')).toBeVisible();
  isGone = false;
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByRole('slider', { name: 'First week' })).toBeVisible();
  expect(asked.timeline.length).toBeGreaterThan(0);
});

test('where list and timeline failed, trying one again brings both', async () => {
  serveWeeks();
  let isGone = true;
  const fail = () =>
    isGone ? HttpResponse.json({ error: 'The disk is full.', code: 'storage' }, { status: 500 }) : undefined;
  server.use(http.get('*/api/memories/:user/timeline', fail), http.get('*/api/memories', fail));
  renderAt('/memories', <MemoriesPage />);
  expect(await screen.findByText(/^The timeline could not be loaded: The disk is full/)).toBeVisible();
  const list = await screen.findByRole('alert');
  isGone = false;
  await userEvent.click(within(list).getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('No memories yet')).toBeVisible();
  expect(await screen.findByRole('slider', { name: 'First week' })).toBeVisible();
});

test('where nothing is known there is no strip', async () => {
  serveWeeks([]);
  renderAt('/memories', <MemoriesPage />);
  expect(await screen.findByText('No memories yet')).toBeVisible();
  await waitFor(() => expect(screen.queryByRole('region', { name: 'When it was learned' })).toBeNull());
});

test('a day to come is not called the past, and one that there is not is now', async () => {
  const asked = serveWeeks();
  const { router } = renderAt('/memories?at=2090-01-01', <MemoriesPage />);
  expect(
    await screen.findByText(/^You are looking ahead: .* Jan 1, 2090\. Nothing can be changed here\.$/),
  ).toBeVisible();
  await router.navigate('/memories?at=2025-02-30');
  expect(await screen.findByRole('button', { name: 'Add a memory' })).toBeVisible();
  await waitFor(() => expect(asked.list.at(-1)?.get('at')).toBeNull());
});

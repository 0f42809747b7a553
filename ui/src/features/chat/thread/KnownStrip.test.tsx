import { screen } from '@testing-library/react';
import { http, HttpResponse } from 'msw';
import { mondayOf, weekAt } from '@/shared/charts/weeks';
import { conversation, piece, streamed } from '@/shared/testing/chat';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ChatPage } from '../ChatPage';

const THIS_WEEK = weekAt(Date.now());
const week = (ago: number, learned: object) => ({ week: mondayOf(THIS_WEEK - ago), learned, changed: 0 });

/** An empty chat of somebody of whom so much is known; how often the weeks were asked for. */
function show(total: number, weeks: unknown[]) {
  localStorage.setItem('memoryEnabled', 'true');
  conversation(() => streamed(piece('Noted.'), 'data: [DONE]\n\n'));
  const asked: string[] = [];
  server.use(
    http.get('*/api/memories', () => HttpResponse.json({ results: [], total, next: null })),
    http.get('*/api/memories/:user/timeline', ({ request }) => {
      asked.push(request.url);
      return HttpResponse.json({ weeks, total, undated: 0 });
    }),
  );
  renderAt('/', <ChatPage />);
  return asked;
}

test('an empty chat tells how much is known and what is new, and leads there', async () => {
  show(200, [week(9, { user: 150, import: 47 }), week(0, { user: 2, api: 1 })]);
  const strip = await screen.findByRole('link', { name: '200 things known, 3 new this week' });
  expect(strip).toHaveAttribute('href', '/memories');
});

test('one thing that is not new has its own sentence', async () => {
  show(1, [week(9, { person: 1 })]);
  expect(await screen.findByRole('link', { name: '1 thing known' })).toBeVisible();
});

test('where nothing is known, no weeks are asked for', async () => {
  const asked = show(0, []);
  expect(await screen.findByRole('button', { name: /Please remember that/ })).toBeVisible();
  expect(screen.queryByRole('link', { name: /known/ })).toBeNull();
  expect(asked).toEqual([]);
});

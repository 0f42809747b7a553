import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import WeekReview from './WeekReview';

const OWNER = { user: 'mira', project: 'default' };
const yesterday = () => new Date(Date.now() - 86_400_000).toISOString();

function memory(id: string, text: string) {
  const at = yesterday();
  const told = { kind: 'fact', origin: 'user', state: 'current', decays_at: null, metadata: null };
  return { id, memory: text, user_id: 'mira', created_at: at, updated_at: at, ...told };
}

const closing = () => ({
  id: 'chg',
  created_at: yesterday(),
  rows: [{ event: 'DELETE', memory_id: 'old', old_memory: 'Lives in Graz', new_memory: null, reason: 'superseded' }],
  model: null,
  session: null,
  undo_of: null,
  undone_by: null,
});

/** A week in which a memory ended and two came, and what the server was asked to do. */
function serveWeek(): string[] {
  const done: string[] = [];
  const note = async (request: Request) => {
    const { pathname } = new URL(request.url);
    const text = await request.clone().text();
    done.push([request.method, pathname.replace('/api/memories/', ''), text].join(' ').trim());
  };
  server.use(
    http.get('*/api/memories', () =>
      HttpResponse.json({ results: [memory('tea', 'Likes tea'), memory('row', 'Rows')], total: 2, next: null }),
    ),
    http.get('*/api/memories/changes', () => HttpResponse.json({ results: [closing()], next: null })),
    http.get('*/api/memories/proposals', () => HttpResponse.json({ results: [], total: 0, next: null })),
    http.get('*/api/memories/mira/map', () =>
      HttpResponse.json({ points: [], groups: [], total: 0, without_vector: 0, left_out: 0 }),
    ),
    http.patch('*/api/memories/:id', async ({ request, params }) => {
      await note(request);
      return HttpResponse.json(memory(String(params.id), 'changed'));
    }),
    http.delete('*/api/memories/:id', async ({ request, params }) => {
      await note(request);
      return HttpResponse.json({ success: true, message: '', id: params.id });
    }),
    http.post('*/api/memories/:id/restore', async ({ request, params }) => {
      await note(request);
      return HttpResponse.json(memory(String(params.id), 'back'));
    }),
    http.post('*/api/memories/changes/:id/undo', async ({ request }) => {
      await note(request);
      return HttpResponse.json({ id: 'undo', results: [] });
    }),
  );
  renderAt('/memories', <WeekReview owner={OWNER} onClose={() => undefined} onRecall={() => undefined} />);
  return done;
}

const card = (name: string) => screen.findByRole('region', { name });

test('a week is looked through by keys alone, and the last decision is taken back', async () => {
  const done = serveWeek();
  expect(await card('Ended, 1 of 3')).toHaveTextContent('Lives in Graz');
  await userEvent.keyboard('b');
  expect(await card('Learned, 2 of 3')).toHaveTextContent('Likes tea');
  await userEvent.keyboard('f');
  expect(await card('Learned, 3 of 3')).toHaveTextContent('Rows');
  await userEvent.keyboard('u');
  expect(await card('Learned, 2 of 3')).toHaveTextContent('Likes tea');
  await userEvent.keyboard('k');
  await card('Learned, 3 of 3');
  await userEvent.keyboard('c');
  const field = screen.getByRole('textbox', { name: 'Memory text' });
  await userEvent.clear(field);
  await userEvent.type(field, 'Rows daily{Control>}{Enter}{/Control}');
  expect(await screen.findByText('That was the week')).toBeInTheDocument();
  expect(screen.getByText('1 kept, 1 corrected, 1 as before.')).toBeInTheDocument();
  expect(done).toEqual([
    'POST changes/chg/undo',
    'DELETE tea',
    'POST tea/restore {}',
    'PATCH row {"memory":"Rows daily"}',
  ]);
});

test('what was looked at does not come again', async () => {
  localStorage.setItem('memoriesReviewed ["default","mira"]', JSON.stringify(['tea', 'row', 'chg old']));
  serveWeek();
  expect(await screen.findByText('Nothing to look at')).toBeInTheDocument();
});

test('a decision that fails is told, and its card stays', async () => {
  serveWeek();
  server.use(
    http.post('*/api/memories/changes/chg/undo', () =>
      HttpResponse.json({ detail: 'A later change stands on it.', code: 'conflict' }, { status: 409 }),
    ),
  );
  await card('Ended, 1 of 3');
  await userEvent.keyboard('b');
  await waitFor(() => expect(screen.getByRole('alert')).toHaveTextContent('A later change stands on it.'));
  expect(await card('Ended, 1 of 3')).toBeInTheDocument();
});

import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { MemoryPanel } from './MemoryPanel';

const nuts = {
  id: 'mem_1',
  memory: 'Allergic to nuts',
  user_id: 'user',
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
  metadata: null,
};
const graz = { ...nuts, id: 'mem_2', memory: 'Lives in Graz', updated_at: '2026-11-22T09:30:00.000Z' };
const failure = { detail: 'The store is closed.', code: 'storage_unavailable' };

function show(...memories: (typeof nuts)[]) {
  server.use(
    http.get('*/api/memories/user', ({ request }) => {
      const { searchParams } = new URL(request.url);
      expect([searchParams.get('project'), searchParams.get('limit')]).toEqual(['default', '100']);
      return HttpResponse.json({ results: memories, total: memories.length });
    }),
  );
  return renderAt('/', <MemoryPanel />);
}

test('rows stand as delivered; the time of a change only where there was one', async () => {
  show(graz, nuts);
  const rows = await screen.findAllByRole('listitem');
  expect(rows.map(row => row.textContent)).toEqual([
    expect.stringMatching(/^Lives in Graz.* · updated /),
    expect.stringMatching(/^Allergic to nuts(?!.*updated)/),
  ]);
  expect(screen.getByText('2 memories')).toBeVisible();
});

test('a memory that was learned just now is seen to arrive', async () => {
  show({ ...graz, created_at: new Date().toISOString() }, nuts);
  const [fresh, old] = await screen.findAllByRole('listitem');
  expect(fresh).toHaveClass('arriving');
  expect(old).not.toHaveClass('arriving');
});

test('without any, it says so, and there is nothing to forget', async () => {
  show();
  expect(await screen.findByText('No memories yet')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Delete all memories' })).toBeDisabled();
});

test('what fails can be tried again', async () => {
  let isDown = true;
  server.use(
    http.get('*/api/memories/user', () =>
      isDown ? HttpResponse.json(failure, { status: 500 }) : HttpResponse.json({ results: [nuts], total: 1 }),
    ),
  );
  renderAt('/', <MemoryPanel />);
  expect(await screen.findByRole('alert')).toHaveTextContent('The store is closed.');
  isDown = false;
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('Allergic to nuts')).toBeVisible();
});

test('a memory that was deleted can be taken back', async () => {
  const kept = new Map([[nuts.id, nuts]]);
  server.use(
    http.get('*/api/memories/user', () => HttpResponse.json({ results: [...kept.values()], total: kept.size })),
    http.delete('*/api/memories/mem_1', ({ request }) => {
      expect(new URL(request.url).searchParams.get('user_id')).toBe('user');
      kept.delete('mem_1');
      return HttpResponse.json({ success: true, message: '', id: 'mem_1' });
    }),
    http.post('*/api/memories/mem_1/restore', () => {
      kept.set('mem_1', nuts);
      return HttpResponse.json(nuts);
    }),
  );
  renderAt('/', <MemoryPanel />);
  await userEvent.click(await screen.findByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(screen.queryByText('Allergic to nuts')).not.toBeInTheDocument());
  await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
  expect(await screen.findByText('Allergic to nuts')).toBeVisible();
});

test('an edit tells what it was made of; a refusal is shown and the words are not lost', async () => {
  const sent: unknown[] = [];
  show(nuts);
  server.use(
    http.patch('*/api/memories/mem_1', async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json({ detail: 'It was changed meanwhile.', code: 'conflict' }, { status: 409 });
    }),
  );
  await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
  const field = screen.getByRole('textbox', { name: 'Memory' });
  await userEvent.clear(field);
  await userEvent.type(field, 'Allergic to peanuts');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText('It was changed meanwhile.')).toBeVisible();
  expect(screen.getByRole('textbox', { name: 'Memory' })).toHaveValue('Allergic to peanuts');
  expect(sent).toEqual([{ memory: 'Allergic to peanuts', updated_at: nuts.updated_at }]);
});

test('everything is forgotten only when the user is named', async () => {
  const deleted: (string | null)[] = [];
  show(nuts);
  server.use(
    http.delete('*/api/memories', ({ request }) => {
      deleted.push(new URL(request.url).searchParams.get('user_id'));
      return HttpResponse.json({ success: true, message: '', deleted: 1 });
    }),
  );
  await screen.findByText('Allergic to nuts');
  await userEvent.click(screen.getByRole('button', { name: 'Delete all memories' }));
  await userEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Cancel' }));
  expect(deleted).toEqual([]);
  await userEvent.click(screen.getByRole('button', { name: 'Delete all memories' }));
  const dialog = await screen.findByRole('dialog');
  expect(dialog).toHaveTextContent('This deletes all memories of user in project default');
  const go = within(dialog).getByRole('button', { name: 'Delete all memories' });
  expect(go).toBeDisabled();
  await userEvent.type(within(dialog).getByRole('textbox'), 'user');
  await userEvent.click(go);
  await waitFor(() => expect(deleted).toEqual(['user']));
});

test('a search shows what was found, best first', async () => {
  show(graz, nuts);
  server.use(
    http.post('*/api/memories/search', async ({ request }) => {
      expect(await request.json()).toEqual({ query: 'food', user_id: 'user', limit: 50 });
      return HttpResponse.json({ results: [{ ...nuts, score: 0.9 }] });
    }),
  );
  await screen.findByText('Lives in Graz');
  await userEvent.type(screen.getByRole('searchbox', { name: 'Search memories' }), 'food');
  expect(await screen.findByText('1 memory found')).toBeVisible();
  expect(screen.queryByText('Lives in Graz')).not.toBeInTheDocument();
});

test('hostile words are words', async () => {
  show({ ...nuts, memory: '<img src=x onerror=alert(1)> \u202egnihton [click](javascript:alert(1))' });
  expect(await screen.findByText('U+202E')).toBeVisible();
  expect(document.querySelector('li img, li a, li script')).toBeNull();
});

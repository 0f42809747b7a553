import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { LearnedFrom } from '@/shared/data/memories/learned';
import { conversation, streamed } from '@/shared/testing/chat';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ChatPage } from '../ChatPage';

const LEARNED = '*/api/conversations/diet/messages/2/learned';
const NOTHING: LearnedFrom = {
  ...{ state: 'none', error: null, change_id: null, undone_by: null, memories: [], known: [], proposed: [] },
  asks_to_forget: false,
};
const vegetarian = { id: 'mem_1', event: 'ADD' as const, memory: 'Is vegetarian', previous_memory: null };
const nuts = { ...vegetarian, id: 'mem_2', memory: 'Allergic to nuts' };
const learned = (more: Partial<LearnedFrom>): LearnedFrom => ({ ...NOTHING, state: 'learned', ...more });

/** A chat with one answer, of which the server tells these one after the other, the last one from then on. */
function answered(...told: LearnedFrom[]) {
  const { put } = conversation(() => streamed());
  put('user', 'I am a vegetarian.');
  put('assistant', 'I see.');
  server.use(http.get(LEARNED, () => HttpResponse.json(told.length > 1 ? told.shift() : told[0])));
  return renderAt('/?conversation=diet', <ChatPage />);
}

test('what was learned stands below its answer as soon as it is known', async () => {
  answered({ ...NOTHING, state: 'waiting' }, learned({ memories: [vegetarian, nuts], change_id: 'chg_1' }));
  expect(await screen.findByText('Looking for something to remember…')).toBeVisible();
  expect(await screen.findByText(/^Learned:/)).toHaveTextContent('Learned: Is vegetarian · Allergic to nuts Undo');
  expect(screen.getByRole('link', { name: 'Is vegetarian' })).toHaveAttribute('href', '/memories?id=mem_1');
});

test('what has just been learned is seen to arrive; what was learned before is there', async () => {
  const is = learned({ memories: [vegetarian], change_id: 'chg_1' });
  const { unmount } = answered({ ...NOTHING, state: 'running' }, is);
  expect((await screen.findByText(/^Learned:/)).closest('.arriving')).not.toBeNull();
  unmount();
  answered(is);
  expect((await screen.findByText(/^Learned:/)).closest('.arriving')).toBeNull();
});

test.each(['none', 'nothing'] as const)(
  'whoever asks to forget something is led to the memories: %s',
  async state => {
    answered({ ...NOTHING, state, asks_to_forget: true });
    expect(await screen.findByRole('link', { name: 'Forget a memory' })).toHaveAttribute('href', '/memories');
  },
);

test('it can be undone there, and that undone', async () => {
  const asked: string[] = [];
  const undone = learned({ state: 'undone', memories: [{ ...vegetarian, memory: null }], undone_by: 'chg_2' });
  let now = learned({ memories: [vegetarian], change_id: 'chg_1' });
  answered();
  server.use(
    http.get(LEARNED, () => HttpResponse.json(now)),
    http.post('*/api/memories/changes/:id/undo', ({ params }) => {
      asked.push(String(params.id));
      now = now === undone ? learned({ memories: [vegetarian], change_id: 'chg_1' }) : undone;
      return HttpResponse.json({ id: 'chg_2', results: [] });
    }),
  );
  await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
  expect(await screen.findByText(/^Undone/)).not.toHaveTextContent('vegetarian');
  await userEvent.click(screen.getByRole('button', { name: 'Learn it again' }));
  expect(await screen.findByText('Is vegetarian')).toBeVisible();
  expect(asked).toEqual(['chg_1', 'chg_2']);
});

test('what another tab has undone already is undone, and no error', async () => {
  let now = learned({ memories: [vegetarian], change_id: 'chg_1' });
  answered();
  server.use(
    http.get(LEARNED, () => HttpResponse.json(now)),
    http.post('*/api/memories/changes/:id/undo', () => {
      now = learned({ state: 'undone', undone_by: 'chg_2' });
      return HttpResponse.json({ detail: 'Undone already.', code: 'change_conflict' }, { status: 409 });
    }),
  );
  await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
  expect(await screen.findByText(/^Undone/)).toBeVisible();
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
});

test.each<[string, LearnedFrom]>([
  ['Already known: Is vegetarian', { ...NOTHING, state: 'known', known: [{ id: 'mem_1', memory: 'Is vegetarian' }] }],
  [
    'Waiting for review: Is vegetarian',
    {
      ...{ ...NOTHING, state: 'proposed' },
      proposed: [{ id: 'prp_1', event: 'ADD', memory: 'Is vegetarian', reason: 'extracted', previous_memory: null }],
    },
  ],
  ['Nothing was learned: The model is gone.', { ...NOTHING, state: 'failed', error: 'The model is gone.' }],
  ['Learned: a deleted memory', learned({ memories: [{ ...vegetarian, memory: null }] })],
  [
    'Learned: Lives in Rome (before: Lives in Graz)',
    learned({ memories: [{ id: 'm', event: 'UPDATE', memory: 'Lives in Rome', previous_memory: 'Lives in Graz' }] }),
  ],
])('it says “%s”', async (words, told) => {
  answered(told);
  const beginning = words.split(':')[0] ?? '';
  expect(await screen.findByText(new RegExp(`^${beginning}`))).toHaveTextContent(words);
});

test.each(['none', 'nothing'] as const)('where %s was learned nothing is said', async state => {
  const asked = vi.fn();
  answered();
  server.use(
    http.get(LEARNED, () => {
      asked();
      return HttpResponse.json({ ...NOTHING, state });
    }),
  );
  await waitFor(() => expect(asked).toHaveBeenCalled());
  expect(screen.queryByText(/remember|Learned/)).not.toBeInTheDocument();
});

import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import WouldBeRecalled from './WouldBeRecalled';

const OWNER = { user: 'mira', project: 'default' };
const line = (id: string | null, memory: string, fits: boolean, tokens: number) => ({
  ...{ id, memory, fits, tokens, day: '2026-03-04' },
});
const LINES = [line('dog', 'Has a dog called Rex', true, 300), line(null, 'Said: I moved', false, 60)];
const GIVEN = { results: LINES, tokens: 360, max_tokens: 1200, memory_enabled: true, degraded: '' };

/** The dialog over a server with this answer; what it was asked, and how often the dialog closed. */
function show(answer: object, status = 200) {
  const asked: unknown[] = [];
  server.use(
    http.post('*/api/memories/recall', async ({ request }) => {
      asked.push(await request.json());
      return HttpResponse.json(answer, { status });
    }),
  );
  const onClose = vi.fn();
  renderAt('/memories', <WouldBeRecalled owner={OWNER} onClose={onClose} />);
  return { asked, onClose };
}

const ask = async (words = 'Whose dog?') => {
  const field = await screen.findByRole('textbox', { name: 'Question' });
  await waitFor(() => expect(field).toHaveFocus());
  await userEvent.keyboard(words);
};

test('what a chat would be given is told as one types, what fits first, with the room it takes', async () => {
  const { asked } = show(GIVEN);
  await ask();
  expect(await screen.findByText('1 fits, 1 more given · about 360 of 1,200 tokens')).toBeVisible();
  expect(asked.at(-1)).toEqual({ query: 'Whose dog?', user_id: 'mira' });
  expect(screen.getByRole('progressbar', { name: 'Room taken by what fits' })).toHaveAttribute('aria-valuenow', '25');
  const fitting = screen.getByRole('region', { name: 'Fits the question' });
  expect(within(fitting).getByRole('link', { name: 'Has a dog called Rex' })).toHaveAttribute(
    'href',
    '/memories?user=mira&project=default&id=dog',
  );
  const beside = screen.getByRole('region', { name: /^Given beside it/ });
  expect(beside).toHaveTextContent('Said: I moved');
  expect(within(beside).queryByRole('link')).toBeNull();
});

test('nothing is asked before something is typed, and Escape closes it', async () => {
  const { asked, onClose } = show(GIVEN);
  await ask('  ');
  await userEvent.keyboard('{Escape}');
  expect(onClose).toHaveBeenCalledOnce();
  expect(asked).toEqual([]);
});

test.each([
  [{ ...GIVEN, memory_enabled: false }, 'Nothing: memory is switched off for this project.'],
  [{ ...GIVEN, results: [], tokens: 0 }, 'Nothing would be recalled · about 0 of 1,200 tokens'],
  [{ ...GIVEN, degraded: 'vectors' }, 'Not all could be looked at: vectors.'],
])('where nothing is given, or less, it says so: %#', async (answer, sentence) => {
  show(answer);
  await ask();
  expect(await screen.findByText(sentence)).toBeVisible();
});

test('a server that fails has its sentence and a second try', async () => {
  show({ error: 'The memory service gave no answer in 2 s.', code: 'provider_timeout' }, 504);
  await ask();
  expect(await screen.findByText('The memory service gave no answer in 2 s.')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Try again' })).toBeVisible();
});

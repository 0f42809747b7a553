import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { PastPage } from './PastPage';

const record = {
  ...{ id: 'imp_1', kind: 'conversations', program: 'chatgpt', created_at: '2026-11-22T10:00:00.000Z' },
  ...{ state: 'stored', stored: 2, turns: 0, turns_done: 0, learned: 0, to_review: 0, failed: 0, waits_for: null },
};
const chats = {
  ...{ success: true, message: '', conversations: 2, messages: 6, skipped: [], left_out: {} },
  ...{ format: 'chatgpt', import_id: null },
};
const memories = { success: true, message: '', imported: 3, skipped: 1, format: 'text', imports: [] };
const problem = (code: string) => ({ detail: 'Not this.', error: 'Not this.', code, request_id: 'r1' });

function brought(...results: unknown[]) {
  server.use(http.get('*/api/imports', () => HttpResponse.json({ results, most_bytes: 1024 })));
}

async function choose(name: string, content: string) {
  renderAt('/past', <PastPage />);
  await screen.findByText('At most 1 KiB');
  const input = document.querySelector<HTMLInputElement>('input[type=file]');
  await userEvent.upload(input as HTMLInputElement, new File([content], name));
}

it('says what a file is and what of it will come, then brings it in', async () => {
  brought();
  const asked: string[] = [];
  server.use(
    http.post('*/api/conversations/import', ({ request }) => {
      asked.push(new URL(request.url).searchParams.get('dry_run') ?? '');
      return HttpResponse.json(chats);
    }),
  );
  await choose('conversations.json', '[]');
  expect(await screen.findByText('In this file: ChatGPT')).toBeInTheDocument();
  await userEvent.click(screen.getByRole('button', { name: 'Import' }));
  expect(await screen.findByText('Imported: ChatGPT')).toBeInTheDocument();
  expect(asked).toEqual(['true', 'false']);
});

it('sends a file of memories the other way', async () => {
  brought();
  server.use(
    http.post('*/api/conversations/import', () => HttpResponse.json(problem('wrong_kind'), { status: 415 })),
    http.post('*/api/import', () => HttpResponse.json({ ...memories, format: 'mem0', left_out: { relations: 2 } })),
  );
  await choose('memories.json', '{"results": []}');
  expect(await screen.findByText('In this file: mem0')).toBeInTheDocument();
  expect(screen.getByText('3 memories; 1 skipped')).toBeInTheDocument();
  expect(screen.getByText('Left out, as memories have no place for it: 2 of relations.')).toBeInTheDocument();
});

it('asks of a text whether it is a list of memories, and stores nothing before', async () => {
  brought();
  const formats: (string | null)[] = [];
  server.use(
    http.post('*/api/conversations/import', () => HttpResponse.json(problem('invalid_import'), { status: 400 })),
    http.post('*/api/import', ({ request }) => {
      const query = new URL(request.url).searchParams;
      formats.push(`${query.get('format') ?? ''} ${query.get('dry_run') ?? ''}`);
      return HttpResponse.json(memories);
    }),
  );
  await choose('notes.txt', 'Rows on Sundays');
  await userEvent.click(await screen.findByRole('button', { name: 'Yes, they are' }));
  expect(await screen.findByText('In this file: a text')).toBeInTheDocument();
  expect(formats).toEqual(['text true']);
});

it('tells of a file that is too large before it sends any', async () => {
  brought();
  await choose('large.json', ' '.repeat(2000));
  expect(await screen.findByText(/the server takes 1 KiB/)).toBeInTheDocument();
  expect(screen.queryByText('Reading the file…')).not.toBeInTheDocument();
});

it('begins to learn with the calls that it named', async () => {
  brought(record);
  const estimate = { turns: 8, tokens: 90, model: 'far-model', least_calls: 8, most_calls: 16 };
  const sent: unknown[] = [];
  server.use(
    http.get('*/api/imports/imp_1/estimate', () => HttpResponse.json(estimate)),
    http.post('*/api/imports/imp_1/learn', async ({ request }) => {
      sent.push(await request.json());
      brought({ ...record, state: 'learning', turns: 8, turns_done: 2, learned: 1, waits_for: 'The model is away.' });
      return HttpResponse.json({ ...record, state: 'learning' });
    }),
  );
  renderAt('/past', <PastPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Learn from it' }));
  expect(await screen.findByText(/It takes 8 to 16 calls of/)).toHaveTextContent('far-model');
  await userEvent.click(screen.getByRole('button', { name: 'Learn' }));
  expect(await screen.findByText('2 of 8 turns · 1 memory learned')).toBeInTheDocument();
  expect(screen.getByText(/It waits:/)).toHaveTextContent('The model is away.');
  expect(screen.getByRole('button', { name: 'Stop' })).toBeInTheDocument();
  expect(sent).toEqual([{ model: 'far-model', least_calls: 8, most_calls: 16 }]);
});

it('takes an import back after a question, and offers nothing for one that was undone', async () => {
  brought(record);
  let undone = 0;
  server.use(
    http.post('*/api/imports/imp_1/undo', () => {
      undone += 1;
      brought({ ...record, state: 'undone' });
      return HttpResponse.json({ ...record, state: 'undone' });
    }),
  );
  renderAt('/past', <PastPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
  await userEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Undo import' }));
  await waitFor(() => expect(screen.getByText('Undone')).toBeInTheDocument());
  expect(undone).toBe(1);
  expect(screen.queryByRole('button', { name: 'Undo' })).not.toBeInTheDocument();
});

import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { conversation, line, piece, streamed } from '@/shared/testing/chat';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ChatPage } from '../ChatPage';

const DONE = 'data: [DONE]\n\n';
let runs = 0;

/** An answer under way on the server: its readers get what is told, from its beginning or behind a number. */
function underWay(questionId: number | null = 1) {
  const run_id = `run-${++runs}`;
  const encoder = new TextEncoder();
  const readers: ReadableStreamDefaultController<Uint8Array>[] = [];
  const after: (string | null)[] = [];
  const stopped: string[] = [];
  let listed: unknown[] = [{ id: 'answer', run_id, question_id: questionId }];
  let first = 0;
  server.use(
    http.get('*/api/conversations/tea/answers', () => HttpResponse.json({ results: listed })),
    http.get('*/api/conversations/tea/answers/answer', ({ request }) => {
      const number = request.headers.get('Last-Event-ID');
      after.push(number);
      const body = new ReadableStream<Uint8Array>({ start: controller => void readers.push(controller) });
      return new HttpResponse(body, {
        headers: { 'X-Workflow-Run-Id': run_id, 'X-Mnemoir-After': Number(number) >= first ? String(number) : '0' },
      });
    }),
    http.delete('*/api/conversations/tea/answers/answer', () => {
      stopped.push(run_id);
      listed = [];
      return HttpResponse.json({ success: true, message: 'Stopped the answer' });
    }),
  );
  return {
    runId: run_id,
    after,
    stopped,
    /** To the newest reader. */
    tell: (...events: string[]) => readers.at(-1)?.enqueue(encoder.encode(events.join(''))),
    cut: () => readers.at(-1)?.close(),
    end: () => (listed = []),
    holdsFrom: (number: number) => (first = number),
    head: { headers: { 'X-Workflow-Run-Id': run_id } },
  };
}

test('after a reload the answer under way is shown as far as it is, and goes on', async () => {
  const { put } = conversation(() => streamed());
  put('user', 'Which tea?');
  const answer = underWay();
  renderAt('/?conversation=tea', <ChatPage />);
  await waitFor(() => expect(answer.after).toEqual(['0']));
  answer.tell(piece('Green '), 'id: 7\n\n');
  expect(await screen.findByText('Green')).toBeVisible();
  expect(screen.getAllByText('Which tea?')).toHaveLength(1);
  answer.tell(piece('tea.'), 'id: 8\n\n');
  expect(await screen.findByText('Green tea.')).toBeVisible();
  put('assistant', 'Green tea.');
  answer.end();
  answer.tell(DONE);
  expect(await screen.findByRole('button', { name: 'Regenerate answer' })).toBeVisible();
});

/** Asks in a chat whose answer comes as far as these events, behind which the connection breaks. */
async function brokenBehind(answer: ReturnType<typeof underWay>, events: string, stored?: string) {
  const { put } = conversation(() => streamed());
  let asked = 0;
  server.use(
    http.post('*/v1/chat/completions', ({ request }) => {
      asked += 1;
      expect(request.headers.get('X-Mnemoir-Resume')).toBe('1');
      put('user', 'Which tea?');
      if (stored) put('assistant', stored, answer.runId);
      return new HttpResponse(events, answer.head);
    }),
  );
  renderAt('/?conversation=tea', <ChatPage />);
  await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), 'Which tea?{Enter}');
  return { put, asked: () => asked };
}

test('a broken connection is taken up again where it was', async () => {
  const answer = underWay();
  const { put, asked } = await brokenBehind(answer, piece('Green ') + 'id: 1\n\n');
  await waitFor(() => expect(answer.after).toEqual(['1']));
  answer.tell(piece('tea'), 'id: 2\n\n');
  expect(await screen.findByText('Green tea')).toBeVisible();
  answer.cut();
  await waitFor(() => expect(answer.after).toEqual(['1', '2']));
  put('assistant', 'Green tea.');
  answer.end();
  answer.tell(piece('.'), DONE);
  expect(await screen.findByRole('button', { name: 'Regenerate answer' })).toBeVisible();
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  expect(asked()).toBe(1);
});

test('an answer that is told anew takes the place of what was shown', async () => {
  const answer = underWay();
  answer.holdsFrom(1_000);
  await brokenBehind(answer, piece('Green ') + 'id: 900\n\n');
  await waitFor(() => expect(answer.after).toEqual(['900']));
  answer.tell(piece('Green tea, or '), 'id: 1001\n\n');
  expect(await screen.findByText('Green tea, or')).toBeVisible();
  answer.tell(piece('none.'), DONE);
  await screen.findByText('Not answered.');
});

test('an answer that was completed while the connection was broken is there', async () => {
  const answer = underWay();
  answer.end();
  await brokenBehind(answer, piece('Green '), 'Green tea.');
  expect(await screen.findByText('Green tea.')).toBeVisible();
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
});

test('of an answer that is gone what was shown stays, and it can be asked for again', async () => {
  const answer = underWay();
  answer.end();
  await brokenBehind(answer, piece('Green '));
  expect(await screen.findByRole('button', { name: 'Ask again' })).toBeVisible();
  expect(screen.getByText('Green')).toBeVisible();
});

test('stopping an answer ends it on the server', async () => {
  const { put } = conversation(() => streamed());
  put('user', 'Which tea?');
  const answer = underWay();
  renderAt('/?conversation=tea', <ChatPage />);
  await waitFor(() => expect(answer.after).toEqual(['0']));
  answer.tell(piece('Green '), 'id: 1\n\n');
  await screen.findByText('Green');
  put('assistant', 'Green ', answer.runId);
  await userEvent.click(screen.getByRole('button', { name: 'Stop' }));
  expect(await screen.findByRole('button', { name: 'Regenerate answer' })).toBeVisible();
  expect(answer.stopped).toEqual([answer.runId]);
});

test('an answer that another tab has stopped is no failure', async () => {
  const { put } = conversation(() => streamed());
  put('user', 'Which tea?');
  const answer = underWay();
  renderAt('/?conversation=tea', <ChatPage />);
  await waitFor(() => expect(answer.after).toEqual(['0']));
  answer.tell(piece('Green '), 'id: 1\n\n');
  await screen.findByText('Green');
  put('assistant', 'Green ', answer.runId);
  answer.end();
  answer.tell(line({ error: { code: 'cancelled', message: 'The request was cancelled.' } }));
  expect(await screen.findByRole('button', { name: 'Regenerate answer' })).toBeVisible();
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
});

test('an answer on another branch is not shown here', async () => {
  const { put } = conversation(() => streamed());
  put('user', 'Which tea?');
  const answer = underWay(99);
  renderAt('/?conversation=tea', <ChatPage />);
  expect(await screen.findByText('Not answered.')).toBeVisible();
  expect(answer.after).toEqual([]);
});

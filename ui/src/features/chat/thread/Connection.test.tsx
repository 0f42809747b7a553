import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { delay, http, HttpResponse } from 'msw';
import { conversation, piece, streamed } from '@/shared/testing/chat';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ChatPage } from '../ChatPage';

const CHAT = '*/v1/chat/completions';
const MESSAGES = '*/api/conversations/:id/messages';

afterEach(() => void window.dispatchEvent(new Event('online')));

async function open(id: string) {
  renderAt(`/?conversation=${id}`, <ChatPage />);
  await screen.findByRole('heading', { name: 'Conversation not found' });
}

async function say(text: string) {
  await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), `${text}{Enter}`);
}

/** An answer that begins, and whose connection breaks when `breakOff` is called. */
function broken(...begun: string[]) {
  let breakOff: () => void = () => undefined;
  const body = new ReadableStream({
    start(controller) {
      for (const each of begun) controller.enqueue(new TextEncoder().encode(each));
      breakOff = () => controller.error(new TypeError('network error'));
    },
  });
  return { answer: new HttpResponse(body, { headers: { 'X-Workflow-Run-Id': 'r' } }), breakOff: () => breakOff() };
}

test('an answer that the network breaks stays on the screen, marked, and its question can be asked again', async () => {
  const { answer, breakOff } = broken(piece('Green tea '), piece('needs '));
  conversation(() => answer);
  await open('broken');
  server.use(http.get(MESSAGES, () => HttpResponse.error()));
  await say('Which tea?');
  await screen.findByText(/Green tea needs/);
  breakOff();
  // beside it another alert may say that the answer cannot be taken up
  expect(await screen.findByText(/The connection to the server was lost/)).toBeVisible();
  expect(screen.getByText(/Green tea needs/)).toBeVisible();
  expect(screen.getByText('Which tea?')).toBeVisible();
  expect(screen.getByText(/This answer is incomplete/)).toBeVisible();
  expect(screen.getByRole('button', { name: 'Ask again' })).toBeVisible();
});

test('a server out of reach is told of at once, whatever else is still waited for', async () => {
  conversation(() => HttpResponse.error());
  await open('away');
  server.use(http.get(MESSAGES, () => delay('infinite')));
  await say('Which tea?');
  expect(await screen.findByRole('alert')).toHaveTextContent('The server cannot be reached.');
});

test('a browser that goes offline looks whether the server is still there', async () => {
  conversation(() => streamed());
  server.use(http.post(CHAT, () => delay('infinite')));
  await open('offline');
  await say('Which tea?');
  await screen.findByText('Answering');
  const asked = vi.fn(() => HttpResponse.json({})); // the server is on this machine
  server.use(http.get('*/api/ui', asked));
  window.dispatchEvent(new Event('offline'));
  await waitFor(() => expect(asked).toHaveBeenCalled());
  expect(screen.getByText('Answering')).toBeInTheDocument();
  server.use(http.get('*/api/ui', () => HttpResponse.error()));
  window.dispatchEvent(new Event('offline'));
  expect(await screen.findByRole('alert')).toHaveTextContent('The server cannot be reached.');
});

test('after an error the next message leaves the failed question marked', async () => {
  const { put } = conversation(() => streamed(piece('Green tea.'), 'data: [DONE]\n\n'));
  const refusal = () => {
    put('user', 'Which tea?');
    return HttpResponse.json({ error: { message: 'The model is gone.', code: 'x' } }, { status: 502 });
  };
  server.use(http.post(CHAT, refusal, { once: true }));
  await open('failed');
  await say('Which tea?');
  expect(await screen.findByRole('alert')).toHaveTextContent('The model is gone.');
  await say('And how hot?');
  await screen.findByText('Green tea.');
  expect(screen.getByText('Not answered.')).toBeVisible();
});

test('why a question has no answer is told also after the page is loaded anew, with its run', async () => {
  const { put } = conversation(() => streamed());
  put('user', 'Which tea?');
  const run = { id: 'run_1', question: 'Which tea?', error: 'The model is gone.' };
  server.use(
    http.get('*/api/runs', ({ request }) => {
      const { searchParams } = new URL(request.url);
      const isAsked = searchParams.get('conversation') === 'failed' && searchParams.get('status') === 'failed';
      return HttpResponse.json({
        results: isAsked ? [{ ...run, id: 'run_2', question: 'Other' }, run] : [],
        next: null,
      });
    }),
  );
  renderAt('/?conversation=failed', <ChatPage />);
  expect(await screen.findByText('The model is gone.')).toBeVisible();
  expect(screen.getByRole('link', { name: 'Open run' })).toHaveAttribute('href', '/runs?id=run_1');
});

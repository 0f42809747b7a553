import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { conversation, line, piece, streamed } from '@/shared/testing/chat';
import { renderAt } from '@/shared/testing/render';
import { callsAs, server } from '@/shared/testing/server';
import { ChatPage } from './ChatPage';

async function choose(model: string) {
  await userEvent.click(await screen.findByRole('button', { name: /^Model or workflow/ }));
  await userEvent.click(await screen.findByRole('option', { name: new RegExp(`^${model}`) }));
}

test('a message is sent behind the newest one and its answer is shown', async () => {
  const { bodies, put } = conversation(() => streamed(piece('Green '), piece('tea.'), 'data: [DONE]\n\n'));
  put('user', 'Hello');
  put('assistant', 'Hi');
  renderAt('/?conversation=tea', <ChatPage />);
  await screen.findByText('Hi');
  await userEvent.type(screen.getByRole('textbox', { name: 'Message' }), 'Which tea?{Enter}');
  expect(await screen.findByText('Green tea.')).toBeVisible();
  expect(bodies).toEqual([
    {
      model: 'small',
      stream: true,
      user: 'user',
      conversation_id: 'tea',
      history: 'server',
      store: true,
      parent_id: 2,
      messages: [{ role: 'user', content: 'Which tea?' }],
    },
  ]);
});

test('a title is asked for with what begins a conversation, and with nothing later', async () => {
  conversation(() => streamed(piece('Green tea.'), 'data: [DONE]\n\n'));
  const asked: (string | null)[] = [];
  server.use(
    http.post('*/v1/chat/completions', ({ request }) => {
      asked.push(request.headers.get('X-Mnemoir-Title')); // and goes on to what answers
    }),
  );
  renderAt('/', <ChatPage />);
  for (const answers of [1, 2]) {
    await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), 'Which tea?{Enter}');
    await waitFor(() => expect(screen.getAllByRole('article', { name: 'Answer' })).toHaveLength(answers));
    await screen.findByRole('button', { name: 'Send' });
  }
  expect(asked).toEqual(['1', null]);
});

test('the first message begins a conversation with an id of its own', async () => {
  const { bodies } = conversation(() => streamed(piece('Green tea.'), 'data: [DONE]\n\n'));
  const { router } = renderAt('/', <ChatPage />);
  await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), 'Which tea?{Enter}');
  expect(await screen.findByText('Green tea.')).toBeVisible();
  const id = new URLSearchParams(router.state.location.search).get('conversation');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
  expect(bodies[0]).toMatchObject({ conversation_id: id, parent_id: 0 });
});

test('what is tried first goes into the composer, and memory and model into the request', async () => {
  localStorage.setItem('memoryEnabled', 'true');
  const { bodies } = conversation(() => streamed(piece('Green tea.'), 'data: [DONE]\n\n'));
  renderAt('/', <ChatPage />);
  await choose('large');
  await userEvent.click(screen.getByRole('button', { name: 'What do you know about me?' }));
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  await waitFor(() => expect(bodies).toHaveLength(1));
  expect(bodies[0]).toMatchObject({ memoryEnabled: true, model: 'large' });
  await screen.findByText('Green tea.');
});

test('a model that is gone is not asked: what the picker shows is', async () => {
  localStorage.setItem('mnemoirModel', 'gone');
  const { bodies } = conversation(() => streamed(piece('Green tea.'), 'data: [DONE]\n\n'));
  renderAt('/', <ChatPage />);
  expect(await screen.findByRole('button', { name: 'Model or workflow: small' })).toBeVisible();
  await userEvent.type(screen.getByRole('textbox', { name: 'Message' }), 'Which tea?{Enter}');
  await screen.findByText('Green tea.');
  expect(bodies[0]).toMatchObject({ model: 'small' });
});

test('a refusal is told in place, and the words go back to where they were typed', async () => {
  conversation(() => HttpResponse.json({ detail: 'An attachment has 30 bytes; 20 are allowed.' }, { status: 413 }));
  renderAt('/?conversation=tea', <ChatPage />);
  await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), 'Too large?{Enter}');
  expect(await screen.findByRole('alert')).toHaveTextContent('20 are allowed');
  await userEvent.click(screen.getByRole('button', { name: 'Edit and resend' }));
  expect(screen.getByRole('textbox', { name: 'Message' })).toHaveValue('Too large?');
});

test('memory is asked for only while it is on', async () => {
  const { bodies } = conversation(() => streamed(piece('Green tea.'), 'data: [DONE]\n\n'));
  renderAt('/?conversation=tea', <ChatPage />);
  for (const [at, isOn] of [null, 'true', 'false'].entries()) {
    if (isOn !== null) localStorage.setItem('memoryEnabled', isOn);
    window.dispatchEvent(new Event('memoryChanged'));
    await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), 'Which tea?{Enter}');
    await waitFor(() => expect(screen.getAllByRole('article', { name: 'Answer' })).toHaveLength(at + 1));
    await screen.findByRole('button', { name: 'Send' });
  }
  expect(bodies.map(body => body.memoryEnabled)).toEqual([undefined, true, undefined]);
});

test('an edit is given up with Escape, and the focus is where it was', async () => {
  const { bodies, put } = conversation(() => streamed('data: [DONE]\n\n'));
  put('user', 'Hello');
  renderAt('/?conversation=tea', <ChatPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Edit message' }));
  const box = screen.getByRole('textbox', { name: 'Edit message' });
  expect(box).toHaveFocus();
  await userEvent.keyboard(' there');
  expect(box).toHaveValue('Hello there');
  await userEvent.keyboard('{Escape}');
  expect(screen.queryByRole('textbox', { name: 'Edit message' })).not.toBeInTheDocument();
  await waitFor(() => expect(screen.getByRole('button', { name: 'Edit message' })).toHaveFocus());
  expect(bodies).toEqual([]);
});

test('thinking is folded until it is asked for', async () => {
  const thought = line({ choices: [{ delta: { reasoning_content: 'Let me count the questions.' } }] });
  conversation(() => streamed(thought, piece('Green tea.'), 'data: [DONE]\n\n'));
  renderAt('/?conversation=tea', <ChatPage />);
  await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), 'Which tea?{Enter}');
  await screen.findByText('Green tea.');
  expect(screen.getByText('Let me count the questions.')).not.toBeVisible();
  await userEvent.click(screen.getByText('Thoughts'));
  expect(screen.getByText('Let me count the questions.')).toBeVisible();
});

test('the model that was chosen is kept for the next visit', async () => {
  conversation(() => streamed('data: [DONE]\n\n'));
  const { unmount } = renderAt('/', <ChatPage />);
  await choose('large');
  unmount();
  renderAt('/', <ChatPage />);
  expect(await screen.findByRole('button', { name: 'Model or workflow: large' })).toBeVisible();
});

test('an address of a conversation that is gone says so', async () => {
  conversation(() => streamed('data: [DONE]\n\n'));
  const gone = HttpResponse.json({ detail: 'None.' }, { status: 404 });
  server.use(http.get('*/api/conversations/gone/messages', () => gone));
  renderAt('/?conversation=gone', <ChatPage />);
  expect(await screen.findByRole('heading', { name: 'Conversation not found' })).toBeVisible();
});

test('without a model the next step is told', async () => {
  conversation(() => streamed('data: [DONE]\n\n'));
  server.use(http.get('*/health', () => HttpResponse.json({ llm: 'missing' })));
  renderAt('/', <ChatPage />);
  expect(await screen.findByText('No language model is connected')).toBeVisible();
  expect(screen.getByRole('link', { name: 'Connect a model' })).toHaveAttribute('href', '/connect?part=model');
});

test('whoever may not connect a model is told whom to ask', async () => {
  conversation(() => streamed('data: [DONE]\n\n'));
  callsAs({ roles: ['write'], may: { admin: false, manage: false, server: false } });
  server.use(http.get('*/health', () => HttpResponse.json({ llm: 'missing' })));
  renderAt('/', <ChatPage />);
  expect(await screen.findByText(/Ask whoever runs this server/)).toBeVisible();
  expect(screen.queryByRole('link', { name: 'Connect a model' })).not.toBeInTheDocument();
});

test('an error within the stream ends the answer with its cause', async () => {
  conversation(() => streamed(piece('Green'), line({ error: { message: 'The model is gone.', code: 'x' } })));
  renderAt('/?conversation=tea', <ChatPage />);
  await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), 'Which tea?{Enter}');
  expect(await screen.findByRole('alert')).toHaveTextContent('The model is gone.');
  expect(screen.getByRole('button', { name: 'Try again' })).toBeVisible();
});

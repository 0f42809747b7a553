import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { conversation, piece, streamed } from '@/shared/testing/chat';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ChatPage } from '../ChatPage';

const answered = () => streamed(piece('Green tea.'), 'data: [DONE]\n\n');
const stored = () => [localStorage.getItem('memoryAsked'), localStorage.getItem('memoryEnabled')];

test('a new browser is asked once whether to remember; yes switches it on', async () => {
  conversation(answered);
  const { unmount } = renderAt('/', <ChatPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Remember what I say' }));
  expect(await screen.findByText(/Long-term memory is on/)).toBeVisible();
  expect(stored()).toEqual(['true', 'true']);
  unmount();
  renderAt('/', <ChatPage />);
  expect(await screen.findByText(/Long-term memory is on/)).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Not now' })).not.toBeInTheDocument();
});

test('not now leaves it off and not chosen, and is not asked again', async () => {
  conversation(answered);
  const { unmount } = renderAt('/', <ChatPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Not now' }));
  expect(stored()).toEqual(['true', null]);
  unmount();
  renderAt('/', <ChatPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Turn it on' }));
  expect(screen.queryByRole('button', { name: 'Not now' })).not.toBeInTheDocument();
  expect(stored()).toEqual(['true', 'true']);
});

test('the question blocks nothing: a message is sent without an answer to it', async () => {
  const { bodies } = conversation(answered);
  renderAt('/', <ChatPage />);
  await screen.findByRole('button', { name: 'Remember what I say' });
  await userEvent.type(screen.getByRole('textbox', { name: 'Message' }), 'Which tea?{Enter}');
  await screen.findByText('Green tea.');
  expect(bodies[0]).not.toHaveProperty('memoryEnabled');
  expect(stored()).toEqual([null, null]);
});

test('the suggestion that speaks of remembering says that it switches memory on, and is remembered', async () => {
  const { bodies } = conversation(answered);
  renderAt('/', <ChatPage />);
  await userEvent.click(await screen.findByRole('button', { name: /Please remember that. \(turns memory on\)/ }));
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  await screen.findByText('Green tea.');
  expect(bodies[0]).toMatchObject({
    memoryEnabled: true,
    messages: [{ content: 'I am a vegetarian and allergic to nuts. Please remember that.' }],
  });
  expect(stored()).toEqual(['true', 'true']);
});

test('whoever is known already is not offered to tell something that may be wrong of them', async () => {
  conversation(answered);
  server.use(http.get('*/api/memories', () => HttpResponse.json({ results: [], total: 200, next: null })));
  renderAt('/', <ChatPage />);
  expect(await screen.findByRole('button', { name: 'What do you know about me?' })).toBeVisible();
  await waitFor(() => expect(screen.queryByRole('button', { name: /vegetarian/ })).toBeNull());
});

test('a suggestion that does not say so leaves memory off', async () => {
  conversation(answered);
  renderAt('/', <ChatPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'What do you know about me?' }));
  expect(stored()).toEqual([null, null]);
});

test('while memory is off every chat says so, also behind messages, and leads to the switch', async () => {
  const { put } = conversation(answered);
  put('user', 'Hello');
  put('assistant', 'Hi');
  renderAt('/?conversation=tea', <ChatPage />);
  await screen.findByText('Hi');
  await userEvent.click(screen.getByRole('button', { name: 'Memory is off' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Turn on memory' }));
  const card = await screen.findByRole('button', { name: 'Agent Memory Enabled' });
  expect(screen.queryByRole('button', { name: 'Memory is off' })).not.toBeInTheDocument();
  await waitFor(() => expect(card).toHaveFocus());
});

test('a workflow that does not use memory says so beside the card, and what to add', async () => {
  localStorage.setItem('memoryEnabled', 'true');
  conversation(answered);
  const file = { path: 'Workflows/default.json', kind: 'workflows', can_remember: false };
  server.use(
    http.get('*/api/workflows', () => HttpResponse.json({ root: null, users: [], models: [], files: [file] })),
  );
  renderAt('/', <ChatPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'This workflow does not use memory' }));
  expect(screen.getByRole('button', { name: 'Agent Memory Enabled' })).toBeVisible();
  expect(await screen.findByRole('dialog', { name: 'This workflow does not use memory' })).toHaveTextContent(
    'Remember',
  );
  expect(screen.queryByRole('button', { name: /Please remember that/ })).not.toBeInTheDocument();
});

import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { conversation, piece, streamed } from '@/shared/testing/chat';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ChatPage } from '../ChatPage';

const answered = () => conversation(() => streamed(piece('Green tea.'), 'data: [DONE]\n\n'));

const about = (system_prompt: string) => ({
  ...{ id: 'tea', title: 'Tea', user_id: 'user', tags: [], custom: {}, system_prompt, head: 2, context_after: null },
  ...{ created_at: '2026-11-22T10:00:00Z', updated_at: '2026-11-22T10:00:00Z', message_count: 2, preview: '' },
});

const open = async () => {
  await userEvent.click(await screen.findByRole('button', { name: /^System prompt and temperature/ }));
  return {
    prompt: await screen.findByRole('textbox', { name: 'System prompt' }),
    temperature: screen.getByRole('textbox', { name: 'Temperature' }),
  };
};

const save = async () => {
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Temperature' })).not.toBeInTheDocument());
};

const say = async (text: string, answers: number) => {
  await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), `${text}{Enter}`);
  await waitFor(() => expect(screen.getAllByRole('article', { name: 'Answer' })).toHaveLength(answers));
  await screen.findByRole('button', { name: 'Send' });
};

test('a new chat begins with its system prompt and temperature, and the next one without', async () => {
  const { bodies } = answered();
  const { router } = renderAt('/', <ChatPage />);
  const { prompt, temperature } = await open();
  await userEvent.type(prompt, 'Rhyme.');
  await userEvent.type(temperature, '0,5');
  await save();
  await say('Which tea?', 1);
  expect(bodies[0]).toMatchObject({
    temperature: 0.5,
    messages: [
      { role: 'system', content: 'Rhyme.' },
      { role: 'user', content: 'Which tea?' },
    ],
  });
  await router.navigate('/');
  expect(await screen.findByRole('heading', { name: 'What’s on your mind?' })).toBeVisible();
  expect(screen.getByRole('button', { name: 'System prompt and temperature' })).toBeVisible();
});

test('empty fields send nothing', async () => {
  const { bodies } = answered();
  renderAt('/?conversation=tea', <ChatPage />);
  await open();
  await save();
  await say('Which tea?', 1);
  expect(bodies[0]).not.toHaveProperty('temperature');
  expect(bodies[0]?.messages).toEqual([{ role: 'user', content: 'Which tea?' }]);
});

test('the system prompt of a conversation is that of the server, and is changed there', async () => {
  const { bodies } = answered();
  const changes: unknown[] = [];
  let stored = 'Be brief.';
  server.use(
    http.get('*/api/conversations/tea', () => HttpResponse.json(about(stored))),
    http.patch('*/api/conversations/tea', async ({ request }) => {
      const change = (await request.json()) as { system_prompt: string };
      changes.push(change);
      stored = change.system_prompt;
      return HttpResponse.json(about(stored));
    }),
  );
  renderAt('/?conversation=tea', <ChatPage />);
  await screen.findByRole('button', { name: 'System prompt and temperature (set)' });
  const { prompt } = await open();
  expect(prompt).toHaveValue('Be brief.');
  await userEvent.clear(prompt);
  await userEvent.type(prompt, 'Rhyme.');
  await save();
  await say('Which tea?', 1);
  await open();
  await userEvent.clear(screen.getByRole('textbox', { name: 'System prompt' }));
  await save();
  await say('Which one?', 2);
  expect(changes).toEqual([{ system_prompt: 'Rhyme.' }, { system_prompt: '' }]);
  expect(bodies.map(body => (body.messages as { role: string }[]).map(({ role }) => role))).toEqual([
    ['system', 'user'],
    ['user'],
  ]);
});

test.each(['3', '-0.1', 'warm', 'Infinity'])('a temperature of %s is refused at its field', async typed => {
  answered();
  renderAt('/?conversation=tea', <ChatPage />);
  const { temperature } = await open();
  await userEvent.type(temperature, `${typed}{Enter}`);
  expect(temperature).toBeInvalid();
  expect(screen.getByText('Enter a number from 0 to 2, or leave it empty.')).toBeVisible();
  await userEvent.clear(temperature);
  expect(temperature).toBeValid();
  await userEvent.type(temperature, '1.2');
  await save();
  expect(localStorage.getItem('mnemoirTemperature:default:user:tea')).toBe('1.2');
});

test('what cannot be saved stays in its field and is told', async () => {
  answered();
  const refused = HttpResponse.json({ detail: 'The disk is full.' }, { status: 500 });
  server.use(http.patch('*/api/conversations/tea', () => refused));
  renderAt('/?conversation=tea', <ChatPage />);
  const { prompt } = await open();
  await userEvent.type(prompt, 'Rhyme.');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText('The disk is full.')).toBeVisible();
  expect(prompt).toHaveValue('Rhyme.');
});

import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { delay, http, HttpResponse } from 'msw';
import { wordsOf } from '@/shared/messages/content';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { useMemories } from '../memories/list';
import { useProjects } from '../projects';
import { useScope } from '../scope';
import { useChangeConversation, useConversation, useForgetConversation } from './conversation';
import { useFoundMessages } from './found';
import { useConversations, useFoundTitles } from './list';
import { useSetHead, useThread } from './thread';

const tea = { id: 'tea', title: 'Tea', tags: [], custom: {}, preview: 'Which tea?' };

/** A server with one conversation; gives the requests it got, and `now`, which tests change. */
function conversation() {
  const now = { title: 'Tea', messages: [{ id: 1, content: 'Green?', parent_id: null }] };
  const asked: string[] = [];
  const one = () => ({ ...tea, title: now.title });
  const answer = (body: () => object) => async (info: { request: Request }) => {
    asked.push(`${info.request.method} ${new URL(info.request.url).pathname}`);
    await delay(0);
    return HttpResponse.json(body());
  };
  const found = () => ({ results: [{ conversation_id: 'tea', title: now.title, message: { id: 1 }, score: 1 }] });
  server.use(
    http.get('*/api/conversations/search', answer(found)),
    http.get(
      '*/api/conversations',
      answer(() => ({ results: [one()], next: null })),
    ),
    http.get(
      '*/api/conversations/tea/messages',
      answer(() => ({ results: now.messages, next: null })),
    ),
    http.get('*/api/conversations/tea', answer(one)),
    http.delete(
      '*/api/conversations/tea',
      answer(() => ({ deleted: true })),
    ),
    http.put(
      '*/api/conversations/tea/head',
      answer(() => ({})),
    ),
    http.get(
      '*/api/memories/user',
      answer(() => ({ results: [], total: 0 })),
    ),
    http.get(
      '*/api/projects',
      answer(() => ({ results: [] })),
    ),
  );
  return { now, asked, answer };
}

function Everywhere() {
  const rename = useChangeConversation('tea');
  const forget = useForgetConversation('tea');
  const setHead = useSetHead('tea');
  const memories = useMemories(useScope());
  const projects = useProjects();
  const thread = useThread('tea');
  const titles = [
    useConversations().conversations[0]?.title,
    useFoundTitles('tea').data?.[0]?.title,
    useFoundMessages({ q: 'tea', limit: 10 }).data?.results[0]?.title,
    useConversation('tea').data?.title,
  ];
  return (
    <>
      <p>{titles.join(', ')}</p>
      <p>{memories.isSuccess && projects.isSuccess && 'all is read'}</p>
      <p>{thread.data?.messages.map(message => wordsOf(message.content)).join(' ')}</p>
      <p>{rename.isError && 'refused'}</p>
      <button onClick={() => rename.mutate({ title: 'Pots' })}>Rename</button>
      <button onClick={() => forget.mutate()}>Forget</button>
      <button onClick={() => setHead.mutate({ message_id: 2, to_newest: true })}>Branch</button>
    </>
  );
}

async function shown() {
  renderAt('/', <Everywhere />);
  await screen.findByText('Tea, Tea, Tea, Tea');
  await screen.findByText('all is read');
}

test('a new title shows in every list before the server has answered', async () => {
  const { now, answer } = conversation();
  let goOn: () => void = () => undefined;
  const held = new Promise<void>(resolve => {
    goOn = resolve;
  });
  const renamed = answer(() => ({ ...tea, title: (now.title = 'Pots') }));
  server.use(
    http.patch('*/api/conversations/tea', async info => {
      await held;
      return renamed(info);
    }),
  );
  await shown();
  await userEvent.click(screen.getByRole('button', { name: 'Rename' }));
  expect(await screen.findByText('Pots, Pots, Pots, Pots')).toBeVisible();
  expect(now.title).toBe('Tea');
  goOn();
  await waitFor(() => expect(now.title).toBe('Pots'));
  expect(screen.getByText('Pots, Pots, Pots, Pots')).toBeVisible();
});

test('a title that is refused gives way to the one there is, everywhere', async () => {
  conversation();
  server.use(http.patch('*/api/conversations/tea', () => HttpResponse.json({ detail: 'No.' }, { status: 400 })));
  await shown();
  await userEvent.click(screen.getByRole('button', { name: 'Rename' }));
  expect(await screen.findByText('refused')).toBeVisible();
  expect(await screen.findByText('Tea, Tea, Tea, Tea')).toBeVisible();
});

test('a conversation that goes takes its memories along: they and the projects are asked for again', async () => {
  const { asked } = conversation();
  await shown();
  asked.length = 0;
  await userEvent.click(screen.getByRole('button', { name: 'Forget' }));
  await waitFor(() =>
    expect(asked).toEqual(
      expect.arrayContaining(['GET /api/conversations', 'GET /api/memories/user', 'GET /api/projects']),
    ),
  );
});

test('a branch that is chosen anywhere is the thread that the chat shows', async () => {
  const { now } = conversation();
  await shown();
  await screen.findByText('Green?');
  now.messages = [{ id: 2, content: 'Black?', parent_id: null }];
  await userEvent.click(screen.getByRole('button', { name: 'Branch' }));
  expect(await screen.findByText('Black?')).toBeVisible();
});

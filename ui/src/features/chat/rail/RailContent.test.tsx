import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { Conversation } from '@/shared/data/conversations/list';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { RailContent } from './RailContent';

const tea: Conversation = {
  id: 'a/b',
  title: 'Tea',
  user_id: 'user',
  tags: [],
  custom: {},
  system_prompt: '',
  created_at: new Date().toISOString(),
  updated_at: new Date().toISOString(),
  head: 2,
  context_after: null,
  message_count: 2,
  preview: 'I drink tea',
};
const cake: Conversation = { ...tea, id: 'cake', title: null, preview: 'A cake without nuts' };

function show(address = '/', ...conversations: Conversation[]) {
  server.use(http.get('*/api/conversations', () => HttpResponse.json({ results: conversations, next: null })));
  return renderAt(address, <RailContent onChosen={() => undefined} />);
}

test('conversations stand below their day, the one on the screen is marked', async () => {
  show('/?conversation=cake', tea, cake);
  expect(await screen.findByRole('heading', { name: 'Today' })).toBeVisible();
  const links = screen.getAllByRole('link').slice(1);
  expect(links.map(link => link.textContent)).toEqual(['Tea', 'A cake without nuts']);
  expect(links[0]).toHaveAttribute('href', '/?conversation=a%2Fb');
  expect(links[0]).not.toHaveAttribute('aria-current');
  expect(links[1]).toHaveAttribute('aria-current', 'page');
});

test('without any, it says so', async () => {
  show();
  expect(await screen.findByText('No conversations yet')).toBeVisible();
});

test('a title that is being made shows by itself', async () => {
  const told: Conversation[] = [
    { ...cake, title_pending: true },
    { ...cake, title: 'Cake without nuts' },
  ];
  server.use(
    http.get('*/api/conversations', () =>
      HttpResponse.json({ results: [told.length > 1 ? told.shift() : told[0]], next: null }),
    ),
  );
  renderAt('/', <RailContent onChosen={() => undefined} />);
  expect(await screen.findByRole('link', { name: 'A cake without nuts' })).toBeVisible();
  expect(await screen.findByRole('link', { name: 'Cake without nuts' })).toBeVisible();
});

test('a list that fails can be asked for again', async () => {
  let isDown = true;
  const down = () => HttpResponse.json({ detail: 'The disk is full.', code: 'storage_unavailable' }, { status: 500 });
  server.use(
    http.get('*/api/conversations', () => (isDown ? down() : HttpResponse.json({ results: [tea], next: null }))),
  );
  renderAt('/', <RailContent onChosen={() => undefined} />);
  expect(await screen.findByText('The disk is full.')).toBeVisible();
  isDown = false;
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByRole('link', { name: 'Tea' })).toBeVisible();
});

test('F2 renames: Enter sends the new name and the row shows it at once', async () => {
  const sent: unknown[] = [];
  show('/', tea);
  server.use(
    http.patch('*/api/conversations/a%2Fb', async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json({ ...tea, title: 'Green tea' });
    }),
  );
  (await screen.findByRole('link', { name: 'Tea' })).focus();
  await userEvent.keyboard('{F2}');
  const field = screen.getByRole('textbox', { name: 'Conversation name' });
  expect(field).toHaveFocus();
  server.use(
    http.get('*/api/conversations', () =>
      HttpResponse.json({ results: [{ ...tea, title: 'Green tea' }], next: null }),
    ),
  );
  await userEvent.keyboard('Green tea{Enter}');
  const link = await screen.findByRole('link', { name: 'Green tea' });
  await waitFor(() => expect(link).toHaveFocus());
  expect(sent).toEqual([{ title: 'Green tea' }]);
});

test('Escape leaves the name as it is', async () => {
  show('/', tea);
  (await screen.findByRole('link', { name: 'Tea' })).focus();
  await userEvent.keyboard('{F2}other{Escape}');
  expect(await screen.findByRole('link', { name: 'Tea' })).toBeVisible();
});

test('Delete asks first, and leaves a conversation that was on the screen', async () => {
  const deleted: string[] = [];
  const { router } = show('/?conversation=a%2Fb', tea);
  server.use(
    http.delete('*/api/conversations/:id', ({ request }) => {
      deleted.push(new URL(request.url).pathname);
      return HttpResponse.json({ success: true, message: '', messages: 2, memories: 1, node_memories: 0 });
    }),
  );
  (await screen.findByRole('link', { name: 'Tea' })).focus();
  await userEvent.keyboard('{Delete}');
  const dialog = await screen.findByRole('dialog');
  expect(dialog).toHaveTextContent('the memories learned only from it');
  expect(deleted).toEqual([]);
  await userEvent.click(within(dialog).getByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(deleted).toEqual(['/api/conversations/a%2Fb']));
  await waitFor(() => expect(router.state.location.search).toBe(''));
});

test('a search finds titles, and below them messages', async () => {
  const message = { id: 7, role: 'user', content: 'Green tea <b>please</b>', created_at: tea.created_at };
  show('/', tea, cake);
  await screen.findByRole('link', { name: 'Tea' });
  server.use(
    http.get('*/api/conversations', ({ request }) => {
      const words = new URL(request.url).searchParams.get('q');
      return HttpResponse.json({ results: words === 'green tea' ? [tea] : [], next: null });
    }),
    http.get('*/api/conversations/search', () =>
      HttpResponse.json({ results: [{ conversation_id: 'cake', title: null, message, score: 1 }] }),
    ),
  );
  await userEvent.type(screen.getByRole('searchbox'), 'green tea');
  const titles = await screen.findByRole('region', { name: 'Titles' });
  expect(within(titles).getByRole('link', { name: 'Tea' })).toBeVisible();
  const hit = within(screen.getByRole('region', { name: 'Messages' })).getByRole('link');
  expect(hit).toHaveTextContent('Green tea <b>please</b>');
  expect(hit).toHaveAttribute('href', '/?conversation=cake&message=7');
});

test('the menu opens the import, and the list shows what came in', async () => {
  show('/');
  await userEvent.click(screen.getByRole('button', { name: 'More about conversations' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Import chats…' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Import conversations' }));
  server.use(
    http.post('*/api/conversations/import', () =>
      HttpResponse.json({ conversations: 1, messages: 2, ids: ['cake'], skipped: [], left_out: {} }),
    ),
  );
  await userEvent.upload(
    document.querySelector<HTMLElement>('input[type=file]') as HTMLElement,
    new File(['[]'], 'chats.json'),
  );
  await waitFor(() => expect(dialog.getByRole('button', { name: 'Import' })).toBeEnabled());
  server.use(http.get('*/api/conversations', () => HttpResponse.json({ results: [cake], next: null })));
  await userEvent.click(dialog.getByRole('button', { name: 'Import' }));
  await userEvent.click(await dialog.findByRole('button', { name: 'Done' }));
  expect(await screen.findByRole('link', { name: 'A cake without nuts' })).toBeVisible();
  await waitFor(() => expect(screen.getByRole('button', { name: 'More about conversations' })).toHaveFocus());
});

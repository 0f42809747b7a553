import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { conversation, piece, streamed } from '@/shared/testing/chat';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ChatPage } from '../ChatPage';

const SIGN = 'Agent Memory Enabled';
const TITLE = 'Project Long Term Memory';
const FACT = {
  ...{ id: 'mem_1', memory: 'Allergic to nuts', user_id: 'user', metadata: null },
  ...{ created_at: '2026-11-21T10:00:00.000Z', updated_at: '2026-11-21T10:00:00.000Z' },
};

afterEach(() => {
  vi.restoreAllMocks();
});

/** The chat with memory on, on a screen with room for panes; `learn` makes the server know a fact. */
function show({ isWide = true } = {}) {
  vi.spyOn(window, 'matchMedia').mockImplementation(
    media =>
      Object.assign(new EventTarget(), { matches: isWide, media, onchange: null }) as unknown as MediaQueryList,
  );
  localStorage.setItem('memoryEnabled', 'true');
  const known: (typeof FACT)[] = [];
  conversation(() => streamed(piece('Noted.'), 'data: [DONE]\n\n'));
  server.use(http.get('*/api/memories/user', () => HttpResponse.json({ results: known, total: known.length })));
  return { ...renderAt('/?conversation=tea', <ChatPage />), learn: () => known.push(FACT) };
}

const openDrawer = async () => {
  await userEvent.click(await screen.findByRole('button', { name: SIGN }));
  return screen.findByRole('dialog', { name: TITLE });
};

test('pinned, the memories stand beside the chat without a dialog, also after a reload', async () => {
  const { unmount } = show();
  expect(screen.queryByRole('complementary', { name: TITLE })).not.toBeInTheDocument();
  await userEvent.click(within(await openDrawer()).getByRole('button', { name: 'Pin beside the chat' }));
  const docked = await screen.findByRole('complementary', { name: TITLE });
  expect(await within(docked).findByText('No memories yet')).toBeVisible();
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
  unmount();
  show();
  expect(await screen.findByRole('complementary', { name: TITLE })).toBeVisible();
});

test('unpinned, it is a drawer again, and the focus goes to its sign', async () => {
  localStorage.setItem('mnemoirMemoryPinned', 'true');
  show();
  await userEvent.click(await screen.findByRole('button', { name: 'Unpin' }));
  expect(screen.queryByRole('complementary', { name: TITLE })).not.toBeInTheDocument();
  expect(screen.getByRole('button', { name: SIGN })).toHaveFocus();
  expect(localStorage.getItem('mnemoirMemoryPinned')).toBeNull();
  expect(await openDrawer()).toBeVisible();
});

test('what is learned from an answer shows by itself', async () => {
  localStorage.setItem('mnemoirMemoryPinned', 'true');
  const { learn } = show();
  const nothing = { error: null, change_id: null, undone_by: null, memories: [], known: [], proposed: [] };
  const states = ['waiting', 'nothing'];
  server.use(
    http.get('*/api/conversations/:id/messages/:message/learned', () => {
      if (states.length === 1) learn();
      return HttpResponse.json({ state: states.length > 1 ? states.shift() : states[0], ...nothing });
    }),
  );
  const docked = await screen.findByRole('complementary', { name: TITLE });
  expect(await within(docked).findByText('No memories yet')).toBeVisible();
  await userEvent.type(screen.getByRole('textbox', { name: 'Message' }), 'I am allergic to nuts.{Enter}');
  expect(await within(docked).findAllByText('Allergic to nuts')).not.toHaveLength(0);
});

test('without room or without memory there is nothing to pin', async () => {
  localStorage.setItem('mnemoirMemoryPinned', 'true');
  const { unmount } = show({ isWide: false });
  const drawer = await openDrawer();
  expect(within(drawer).queryByRole('button', { name: /Pin/ })).not.toBeInTheDocument();
  expect(screen.queryByRole('complementary', { name: TITLE })).not.toBeInTheDocument();
  unmount();
  show();
  localStorage.setItem('memoryEnabled', 'false');
  window.dispatchEvent(new Event('memoryChanged'));
  await waitFor(() => expect(screen.queryByRole('complementary', { name: TITLE })).not.toBeInTheDocument());
});

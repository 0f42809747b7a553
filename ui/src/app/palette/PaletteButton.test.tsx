import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { useLocation } from 'react-router';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { PaletteButton } from './PaletteButton';

function Page() {
  const { pathname, search } = useLocation();
  return (
    <>
      <PaletteButton />
      <output>{pathname + search}</output>
      <input aria-label="Anything" />
    </>
  );
}

beforeEach(() => {
  const at = '2026-03-01T10:00:00.000Z';
  const chat = { id: 'tea', title: 'Evening tea', preview: '', tags: [], message_count: 2, updated_at: at };
  const memory = { id: 'm1', memory: 'Drinks tea in the evening', created_at: at, updated_at: at, score: 0.8 };
  const unlikely = { ...memory, id: 'm2', memory: 'Lives in Graz', likely: false };
  server.use(
    http.get('*/api/conversations', () => HttpResponse.json({ results: [chat], next: null })),
    http.post('*/api/memories/search', () => HttpResponse.json({ results: [memory, unlikely] })),
  );
});

test('Ctrl+K finds pages, chats and memories, also from a text box', async () => {
  renderAt('/', <Page />);
  await userEvent.click(screen.getByRole('textbox', { name: 'Anything' }));
  await userEvent.keyboard('{Control>}k{/Control}');
  await userEvent.type(await screen.findByRole('combobox'), 'e');
  await screen.findByRole('option', { name: /Drinks tea/ });
  const found = screen.getAllByRole('option').map(option => option.textContent);
  expect(found).toEqual(
    expect.arrayContaining(['MemoriesPages', 'Evening teaChats', 'Drinks tea in the eveningMemories']),
  );
  expect(found).not.toContain('Lives in GrazMemories');
});

test('arrows choose and Enter opens', async () => {
  renderAt('/', <Page />);
  await userEvent.click(screen.getByRole('button', { name: 'Search everything' }));
  await userEvent.type(await screen.findByRole('combobox'), 'evening tea');
  await screen.findByRole('option', { name: /Drinks tea/ });
  await userEvent.keyboard('{ArrowDown}{Enter}');
  await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent('/memories?id=m1'));
});

test('a question mark shows the shortcuts, but not in a text box', async () => {
  renderAt('/', <Page />);
  await userEvent.type(screen.getByRole('textbox', { name: 'Anything' }), '?');
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
  await userEvent.click(document.body);
  await userEvent.keyboard('?');
  expect(await screen.findByRole('dialog', { name: 'Keyboard shortcuts' })).toBeInTheDocument();
});

import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { Link, useLocation } from 'react-router';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { renderAt } from '@/shared/testing/render';
import { listed } from '@/shared/testing/runs';
import { callsAs, server } from '@/shared/testing/server';
import { PaletteButton } from './PaletteButton';

function Page() {
  const { pathname, search } = useLocation();
  return (
    <main>
      <PaletteButton />
      <output>{pathname + search}</output>
      <input aria-label="Anything" data-autofocus />
      {pathname === '/memories' && <input type="search" aria-label="Search memories" />}
      <VirtualRows items={['one', 'two']} rowKey={name => name} label="Some">
        {name => (
          <Link data-row to={`/runs?id=${name}`}>
            {name}
          </Link>
        )}
      </VirtualRows>
    </main>
  );
}

beforeEach(() => {
  const at = '2026-03-01T10:00:00.000Z';
  const chat = { id: 'tea', title: 'Evening tea', preview: '', tags: [], message_count: 2, updated_at: at };
  const memory = (id: string, text: string) => ({ id, memory: text, created_at: at, updated_at: at, score: 0.8 });
  const memories = ['', ' hot', ' iced', ' white'].map((kind, n) =>
    memory(`m${n}`, `Drinks${kind} tea in the evening`),
  );
  const unlikely = { ...memory('m9', 'Lives in Graz'), likely: false };
  server.use(
    http.get('*/api/conversations', () => HttpResponse.json({ results: [chat], next: null })),
    http.post('*/api/memories/search', () => HttpResponse.json({ results: [...memories, unlikely] })),
    http.get('*/api/runs', () =>
      HttpResponse.json({ results: [listed('r1', { question: 'Which tea?' })], next: null }),
    ),
    http.get('*/api/workflows', () =>
      HttpResponse.json({
        root: '/tree',
        models: [],
        users: [],
        files: [{ path: 'Workflows/Ann/Tea.json', kind: 'workflows', size_bytes: 2, modified_at: null }],
      }),
    ),
  );
});

const lines = (group: string) =>
  within(screen.getByRole('group', { name: group }))
    .getAllByRole('option')
    .map(option => option.textContent);

async function openPalette(typed = '') {
  await userEvent.keyboard('{Control>}k{/Control}');
  const box = await screen.findByRole('combobox');
  if (typed) await userEvent.type(box, typed);
}

test('Ctrl+K finds what is stored below its groups, also from a text box', async () => {
  renderAt('/', <Page />);
  await userEvent.click(screen.getByRole('textbox', { name: 'Anything' }));
  await openPalette('tea');
  await screen.findByRole('option', { name: 'Which tea?' });
  expect(lines('Chats')).toEqual(['Evening tea']);
  expect(lines('Memories')).toEqual(['', ' hot', ' iced'].map(kind => `Drinks${kind} tea in the evening`));
  expect(lines('Workflows')).toEqual(['Ann/Tea']);
  expect(lines('Runs')).toEqual(['Which tea?']);
});

test('it begins with actions and pages, each with its keys', async () => {
  renderAt('/', <Page />);
  await openPalette();
  await screen.findByRole('option', { name: 'Evening tea' });
  expect(lines('Actions')).toEqual(
    expect.arrayContaining(['New chatCtrlShiftO', 'Add a memory', 'Turn memory on', 'Dark appearance', 'Settings']),
  );
  expect(lines('Go to')).toEqual(expect.arrayContaining(['Memoriesgm', 'Connect', 'Statusgs']));
});

test('memory and the look of the pages are switched by name', async () => {
  renderAt('/', <Page />);
  await openPalette('memory on');
  await userEvent.keyboard('{Enter}');
  expect(localStorage.getItem('memoryEnabled')).toBe('true');
  await openPalette('dark');
  await userEvent.keyboard('{Enter}');
  expect(document.documentElement).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await openPalette('appearance');
  await userEvent.keyboard('{Enter}');
  expect(document.documentElement).toHaveAttribute('data-mantine-color-scheme', 'light');
});

test.each([
  ['add a mem', 'Add a memory'],
  ['settings', 'Settings'],
  ['import chats', 'Import conversations'],
  ['import memories', 'Import memories'],
  ['shortcuts', 'Keyboard shortcuts'],
])('"%s" opens its dialog, and the focus comes back', async (typed, name) => {
  server.use(http.get('*/api/projects', () => HttpResponse.json({ results: [] })));
  server.use(http.get('*/api/users', () => HttpResponse.json({ results: [] })));
  renderAt('/', <Page />);
  const field = screen.getByRole('textbox', { name: 'Anything' });
  await userEvent.click(field);
  await openPalette(typed);
  await userEvent.keyboard('{Enter}');
  expect(await screen.findByRole('dialog', { name })).toBeInTheDocument();
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
  expect(field).toHaveFocus();
});

test('what may not be done is not offered', async () => {
  callsAs({ signed_in: true, may: { write: false, admin: false } });
  renderAt('/', <Page />);
  await openPalette();
  await waitFor(() => expect(lines('Go to')).toContain('My account'));
  for (const name of ['New chat', 'Add a memory', 'Import chats', 'Import memories'])
    expect(screen.queryByRole('option', { name: new RegExp(`^${name}`) })).not.toBeInTheDocument();
  expect(lines('Actions')).toContain('Export memories');
});

test('arrows choose and Enter opens', async () => {
  renderAt('/', <Page />);
  await userEvent.click(screen.getByRole('button', { name: 'Search everything' }));
  await userEvent.type(await screen.findByRole('combobox'), 'evening tea');
  await screen.findByRole('option', { name: /Drinks tea/ });
  await userEvent.keyboard('{ArrowDown}{Enter}');
  await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent('/memories?id=m0'));
});

test('letters lead to pages, to their search and through their lists', async () => {
  renderAt('/', <Page />);
  await userEvent.keyboard('gm');
  await waitFor(() => expect(screen.getByRole('status')).toHaveTextContent('/memories'));
  await userEvent.keyboard('/');
  expect(screen.getByRole('searchbox')).toHaveFocus();
  await userEvent.keyboard('gr'); // typed
  expect(screen.getByRole('status')).toHaveTextContent('/memories');
  await userEvent.click(document.body);
  await userEvent.keyboard('j');
  expect(screen.getByRole('link', { name: 'one' })).toHaveFocus();
  await userEvent.keyboard('jj');
  expect(screen.getByRole('link', { name: 'two' })).toHaveFocus();
  await userEvent.keyboard('k');
  expect(screen.getByRole('link', { name: 'one' })).toHaveFocus();
  await userEvent.keyboard('{Control>}{Shift>}O{/Shift}{/Control}');
  await waitFor(() => expect(screen.getByRole('textbox')).toHaveFocus());
  expect(screen.getByRole('status')).toHaveTextContent(/^\/$/);
});

test('keys count from the first moment of a page', () => {
  renderAt('/', <Page />);
  for (const [key, at] of [
    ['g', 40],
    ['m', 90],
  ] as const) {
    const pressed = new KeyboardEvent('keydown', { key, bubbles: true });
    Object.defineProperty(pressed, 'timeStamp', { value: at }); // milliseconds since the page began
    fireEvent(document.body, pressed);
  }
  expect(screen.getByRole('status')).toHaveTextContent('/memories');
});

test('on a page without a search, / opens the palette', async () => {
  renderAt('/', <Page />);
  await userEvent.keyboard('/');
  expect(await screen.findByRole('combobox')).toHaveValue('');
});

test('a question mark shows the shortcuts, but not in a text box, and they can be switched off', async () => {
  renderAt('/', <Page />);
  await userEvent.type(screen.getByRole('textbox', { name: 'Anything' }), '?');
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
  await userEvent.click(document.body);
  await userEvent.keyboard('?');
  const sheet = await screen.findByRole('dialog', { name: 'Keyboard shortcuts' });
  await userEvent.click(within(sheet).getByRole('checkbox', { name: 'Shortcuts of letters and signs' }));
  await userEvent.keyboard('{Escape}');
  await userEvent.keyboard('gm?');
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
  expect(screen.getByRole('status')).toHaveTextContent(/^\/$/);
});

import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { conversation, piece, streamed } from '@/shared/testing/chat';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ChatPage } from '../ChatPage';

const start = (path: string, when: string | null = null) => ({ name: path, path, when });
const file = (path: string, can_remember: boolean) => ({
  ...{ path, kind: 'workflows', size_bytes: 1, modified_at: null },
  can_remember,
});

/** The chat of a server with a config tree of two workflows, one of which remembers. */
async function picker() {
  const { bodies } = conversation(() => streamed(piece('Green tea.'), 'data: [DONE]\n\n'));
  const user = { name: 'small', path: '', is_served: true, is_current: true, problem: '' };
  const starts = [start('Workflows/Plain.json'), start('Workflows/Diary.json', 'model large')];
  const files = [file('Workflows/Plain.json', false), file('Workflows/Diary.json', true)];
  const tree = { root: '/tree', models: [], users: [{ ...user, models: ['small', 'large'], starts }], files };
  server.use(http.get('*/api/workflows', () => HttpResponse.json(tree)));
  renderAt('/?conversation=tea', <ChatPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Model or workflow: small' }));
  await screen.findByText('Workflow Diary');
  return { bodies, box: screen.getByRole('combobox', { name: 'Search models and workflows' }) };
}

/** The entry that a screen reader tells while the focus is in the box. */
const told = (box: HTMLElement) => document.getElementById(box.getAttribute('aria-activedescendant') ?? '');

test('each entry tells its workflow, and which one remembers', async () => {
  const { box } = await picker();
  const list = screen.getByRole('listbox', { name: 'Models and workflows' });
  expect(within(list).getByRole('option', { name: /^small.*Workflow Plain.*chosen$/ })).toBeVisible();
  expect(within(list).getByRole('option', { name: /^large.*Workflow Diary.*remembers$/ })).toBeVisible();
  expect(box).toHaveAttribute('aria-controls', list.id);
  expect(box).toHaveFocus();
});

test('typing narrows the list, and Enter takes the first of what is left', async () => {
  const { box, bodies } = await picker();
  await userEvent.keyboard('diary');
  expect(screen.getAllByRole('option').map(option => option.textContent)).toEqual(['largeWorkflow Diaryremembers']);
  expect(told(box)).toHaveTextContent(/^large/);
  await userEvent.keyboard('{Enter}');
  const button = await screen.findByRole('button', { name: 'Model or workflow: large' });
  await waitFor(() => expect(button).toHaveFocus());
  expect(screen.queryByRole('listbox')).not.toBeInTheDocument();
  expect(localStorage.getItem('mnemoirModel')).toBe('large');
  expect(bodies).toEqual([]);
});

test('arrow keys go through the list from the current entry', async () => {
  const { box } = await picker();
  expect(told(box)).toHaveTextContent(/^small/);
  await userEvent.keyboard('{ArrowDown}');
  expect(told(box)).toHaveTextContent(/^large/);
  await userEvent.keyboard('{Enter}');
  expect(await screen.findByRole('button', { name: 'Model or workflow: large' })).toBeVisible();
});

test('Escape closes the list, and nothing is chosen', async () => {
  await picker();
  await userEvent.keyboard('nobody');
  expect(screen.getByText('Nothing found')).toBeVisible();
  await userEvent.keyboard('{Enter}{Escape}');
  await waitFor(() => expect(screen.queryByRole('combobox')).not.toBeInTheDocument());
  expect(screen.getByRole('button', { name: 'Model or workflow: small' })).toHaveFocus();
});

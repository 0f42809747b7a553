import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { callsAs, server } from '@/shared/testing/server';
import { SettingsDialog } from './SettingsDialog';

const projects = [
  { project: 'atlas', memories: 3, changed_at: null, users: [{ user_id: 'mira', memories: 3, changed_at: null }] },
];

function show() {
  server.use(http.get('*/api/projects', () => HttpResponse.json({ results: projects })));
  return renderAt('/', <SettingsDialog opened onClose={() => undefined} onClosed={() => undefined} />);
}

test('memory is off until it is switched on; a change is stored and announced', async () => {
  const changed = vi.fn();
  window.addEventListener('memoryChanged', changed);
  show();
  const box = await screen.findByRole('checkbox', { name: 'Long Term Memory' });
  expect(box).not.toBeChecked();
  expect(localStorage.getItem('memoryEnabled')).toBeNull();
  await userEvent.click(box);
  expect([box, localStorage.getItem('memoryEnabled')]).toEqual([box, 'true']);
  expect(box).toBeChecked();
  await userEvent.click(box);
  expect(localStorage.getItem('memoryEnabled')).toBe('false');
  expect(changed).toHaveBeenCalledTimes(2);
  window.removeEventListener('memoryChanged', changed);
});

test('another tab that switches it on is followed', async () => {
  show();
  const box = await screen.findByRole('checkbox', { name: 'Long Term Memory' });
  localStorage.setItem('memoryEnabled', 'true');
  window.dispatchEvent(new StorageEvent('storage', { key: 'memoryEnabled', newValue: 'true' }));
  await waitFor(() => expect(box).toBeChecked());
});

test('a project can be chosen or typed; a name that is none is refused and not kept', async () => {
  show();
  const field = await screen.findByRole('combobox', { name: 'Project' });
  await userEvent.clear(field);
  await userEvent.type(field, 'no way!{Enter}');
  expect(screen.getByText(/Letters, digits/)).toBeVisible();
  expect(localStorage.getItem('mnemoirProject')).toBeNull();
  await userEvent.clear(field);
  await userEvent.type(field, 'atlas{Enter}');
  expect(localStorage.getItem('mnemoirProject')).toBe('atlas');
});

test('a server without keys is not asked for one', async () => {
  show();
  await screen.findByRole('checkbox', { name: 'Long Term Memory' });
  expect(screen.queryByLabelText('API key')).not.toBeInTheDocument();
});

test('a key is kept for the tab, or for the device', async () => {
  callsAs({});
  show();
  await userEvent.type(await screen.findByLabelText('API key'), 'key-one');
  await userEvent.click(screen.getByRole('button', { name: 'Use this key' }));
  await waitFor(() => expect(sessionStorage.getItem('mnemoirKey')).toBe('key-one'));
  expect(localStorage.getItem('mnemoirKey')).toBeNull();
  await userEvent.type(screen.getByLabelText('API key'), 'key-two');
  await userEvent.click(screen.getByRole('checkbox', { name: 'Remember on this device' }));
  await userEvent.click(screen.getByRole('button', { name: 'Use this key' }));
  await waitFor(() => expect(localStorage.getItem('mnemoirKey')).toBe('key-two'));
  expect(sessionStorage.getItem('mnemoirKey')).toBeNull();
});

test('a key that is for one user and one project fixes both', async () => {
  callsAs({ user: 'noa', projects: ['garden'] });
  localStorage.setItem('mnemoirUser', 'mira');
  show();
  expect(await screen.findByDisplayValue('noa')).toHaveAttribute('readonly');
  expect(screen.getByDisplayValue('garden')).toHaveAttribute('readonly');
});

test('a key that is refused leaves the one in use', async () => {
  callsAs({});
  show();
  await screen.findByText(/Key in use/);
  server.use(http.get('*/api/me', () => HttpResponse.json({ error: 'A valid API key is needed' }, { status: 401 })));
  await userEvent.type(screen.getByLabelText('API key'), 'key-one');
  await userEvent.click(screen.getByRole('button', { name: 'Use this key' }));
  expect(await screen.findByText('A valid API key is needed')).toBeVisible();
  expect(sessionStorage.getItem('mnemoirKey')).toBe('mn_live_aaaaaaaa_secret');
});

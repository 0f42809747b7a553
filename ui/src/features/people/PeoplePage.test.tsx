import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { ApiKey } from '@/shared/data/apiKeys';
import { renderAt } from '@/shared/testing/render';
import { callsAs, server } from '@/shared/testing/server';
import { PeoplePage } from './PeoplePage';

const KEY: ApiKey = {
  id: 'k1k1k1k1',
  role: 'write',
  tenant: 'default',
  projects: ['kitchen'],
  user: 'mira',
  configs: null,
  label: 'Open WebUI',
  state: 'valid',
  created_at: new Date(Date.now() - 180_000).toISOString(),
  created_by: 'command line',
  expires_at: null,
  revoked_at: null,
  replaced_by: null,
  last_used_at: null,
  limits: { tokens_day: 50_000 },
};
const TEXT = 'mn_live_n1n1n1n1_secret';

/** The server with these keys; what was sent to it, by route. */
function keeps(...keys: ApiKey[]) {
  const sent: Record<string, unknown> = {};
  const made = (key: Partial<ApiKey>, more: object = {}) => {
    const record = { ...KEY, id: 'n1n1n1n1', ...key };
    keys.push(record);
    return HttpResponse.json({ ...record, key: TEXT, ...more }, { status: 201 });
  };
  server.use(
    http.get('*/api/keys', () => HttpResponse.json({ results: keys, next: null })),
    http.get('*/api/tenants', () => HttpResponse.json({ results: [] })),
    http.get('*/api/projects', () => HttpResponse.json({ results: [] })),
    http.get('*/api/auth/clients', () => HttpResponse.json({ results: [] })),
    http.post('*/api/keys', async ({ request }) => {
      sent.made = await request.json();
      return made(sent.made as Partial<ApiKey>);
    }),
    http.post('*/api/keys/:id/rotate', async ({ request, params }) => {
      sent.rotated = [params.id, await request.json()];
      return made({}, { warning: 'Keep the former key until they have the new one.' });
    }),
    http.delete('*/api/keys/:id', ({ params }) => {
      sent.revoked = params.id;
      const key = keys.find(({ id }) => id === params.id);
      if (key) key.state = 'revoked';
      return HttpResponse.json(key);
    }),
  );
  return sent;
}

const rowOf = (id: string) => screen.findByRole('row', { name: new RegExp(id) });

async function choose(id: string, action: string) {
  await userEvent.click(within(await rowOf(id)).getByRole('button', { name: /Actions of/ }));
  await userEvent.click(await screen.findByRole('menuitem', { name: action }));
}

test('a key shows what it is for, and that it was never used', async () => {
  callsAs({});
  keeps(KEY);
  renderAt('/keys?part=keys', <PeoplePage />);
  expect(await rowOf('k1k1k1k1')).toHaveTextContent(
    /Open WebUI\s*k1k1k1k1\s*write\s*project kitchen, user mira\s*Model tokens today: 50,000\s*valid\s*never\s*3 minutes ago\s*never/,
  );
});

test('a new key is shown once, with a warning, and then listed without its text', async () => {
  callsAs({});
  const sent = keeps();
  renderAt('/keys?part=keys', <PeoplePage />);
  await userEvent.click(await screen.findByRole('button', { name: 'New key' }));
  const dialog = await screen.findByRole('dialog', { name: 'New key' });
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Label' }), 'Phone');
  await userEvent.click(within(dialog).getByRole('radio', { name: 'read' }));
  await userEvent.type(within(dialog).getByRole('combobox', { name: 'User' }), 'mira');
  await userEvent.type(within(dialog).getByRole('combobox', { name: 'Projects' }), 'kitchen{Enter}');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Make the key' }));
  expect(await screen.findByText(TEXT)).toBeVisible();
  expect(screen.getByText(/shown only now/)).toBeVisible();
  expect(screen.getByRole('button', { name: 'Copy the key' })).toBeVisible();
  expect(sent.made).toEqual({ role: 'read', label: 'Phone', user: 'mira', projects: ['kitchen'] });
  await userEvent.keyboard('{Escape}'); // by accident: the key would be lost
  await userEvent.click(screen.getByRole('button', { name: 'Done' }));
  await waitFor(() => expect(screen.queryByText(TEXT)).toBeNull());
  expect(await rowOf('Phone')).toBeVisible();
});

test('the end of a new key is as far away as was chosen', async () => {
  callsAs({});
  const sent = keeps();
  renderAt('/keys?part=keys', <PeoplePage />);
  await userEvent.click(await screen.findByRole('button', { name: 'New key' }));
  await userEvent.click(await screen.findByRole('combobox', { name: 'Expires' }));
  await userEvent.click(await screen.findByRole('option', { name: 'In 30 days' }));
  await userEvent.click(screen.getByRole('button', { name: 'Make the key' }));
  await screen.findByText(TEXT);
  const days = (Date.parse((sent.made as ApiKey).expires_at ?? '') - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
});

test('who is for one user and some projects gives no more', async () => {
  callsAs({ user: 'noa', projects: ['garden'] });
  const sent = keeps();
  renderAt('/keys?part=keys', <PeoplePage />);
  await userEvent.click(await screen.findByRole('button', { name: 'New key' }));
  expect(await screen.findByRole('combobox', { name: 'User' })).toHaveAttribute('readonly');
  expect(screen.queryByRole('radio', { name: 'operator' })).toBeNull();
  expect(screen.queryByRole('combobox', { name: 'Tenant' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Make the key' }));
  await screen.findByText(TEXT);
  expect(sent.made).toEqual({ role: 'write', label: '', user: 'noa', projects: ['garden'] });
});

test('an operator names a tenant', async () => {
  callsAs({ roles: ['operator'], may: { read: false, write: false, admin: false } });
  const sent = keeps();
  renderAt('/keys?part=keys', <PeoplePage />);
  await userEvent.click(await screen.findByRole('button', { name: 'New key' }));
  const tenant = await screen.findByRole('combobox', { name: 'Tenant' });
  await userEvent.clear(tenant);
  await userEvent.type(tenant, 'acme');
  await userEvent.click(screen.getByRole('button', { name: 'Make the key' }));
  await screen.findByText(TEXT);
  expect(sent.made).toEqual({ role: 'write', label: '', tenant: 'acme' });
});

test('a refused key says why, and keeps what was typed', async () => {
  callsAs({});
  keeps();
  server.use(
    http.post('*/api/keys', () =>
      HttpResponse.json({ error: 'That is more than your own key has.', code: 'forbidden' }, { status: 403 }),
    ),
  );
  renderAt('/keys?part=keys', <PeoplePage />);
  await userEvent.click(await screen.findByRole('button', { name: 'New key' }));
  await userEvent.type(await screen.findByRole('textbox', { name: 'Label' }), 'Phone');
  await userEvent.click(screen.getByRole('button', { name: 'Make the key' }));
  expect(await screen.findByText('Your role does not allow this')).toBeVisible();
  expect(screen.getByRole('textbox', { name: 'Label' })).toHaveValue('Phone');
});

test('a rotated key goes on for the hours that were chosen', async () => {
  callsAs({});
  const sent = keeps(KEY);
  renderAt('/keys?part=keys', <PeoplePage />);
  await choose('k1k1k1k1', 'Rotate…');
  const hours = await screen.findByRole('textbox', { name: /Hours/ });
  await userEvent.clear(hours);
  await userEvent.type(hours, '2');
  await userEvent.click(screen.getByRole('button', { name: 'Rotate' }));
  expect(await screen.findByText(TEXT)).toBeVisible();
  expect(screen.getByText(/Keep the former key until they have the new one/)).toBeVisible();
  expect(sent.rotated).toEqual(['k1k1k1k1', { overlap_h: 2 }]);
});

test('a key is revoked only after a question, which says if it is the one in use', async () => {
  callsAs({ key: 'k1k1k1k1' });
  const sent = keeps(KEY);
  renderAt('/keys?part=keys', <PeoplePage />);
  await choose('k1k1k1k1', 'Revoke…');
  expect(await screen.findByText(/You use this key now/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(sent.revoked).toBeUndefined();
  await choose('k1k1k1k1', 'Revoke…');
  await userEvent.click(await screen.findByRole('button', { name: 'Revoke' }));
  await waitFor(async () => expect(await rowOf('k1k1k1k1')).toHaveTextContent('revoked'));
  expect(sent.revoked).toBe('k1k1k1k1');
  expect(within(await rowOf('k1k1k1k1')).queryByRole('button')).toBeNull();
});

const SEEN = { name: 'open-webui', user_agent: 'Open WebUI', last_seen_at: KEY.created_at, requests: 12 };

test('where nobody needs a key it tells how the first one is made, and who will need one', async () => {
  server.use(http.get('*/api/auth/clients', () => HttpResponse.json({ results: [SEEN] })));
  renderAt('/keys?part=keys', <PeoplePage />);
  expect(await screen.findByRole('heading', { name: 'Nobody needs a key now' })).toBeVisible();
  expect(screen.getByRole('region', { name: 'Code, sh' })).toHaveTextContent('mnemoir keys create --role admin');
  expect(await screen.findByRole('link', { name: 'Open WebUI' })).toHaveAttribute(
    'href',
    '/connect?client=open-webui',
  );
  expect(screen.queryByRole('button', { name: 'New key' })).toBeNull();
});

test('an app that called without a key gets one of its name', async () => {
  callsAs({});
  const sent = keeps();
  server.use(http.get('*/api/auth/clients', () => HttpResponse.json({ results: [SEEN] })));
  renderAt('/keys?part=keys', <PeoplePage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Make a key for Open WebUI' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Make the key' }));
  await screen.findByText(TEXT);
  expect(sent.made).toEqual({ role: 'write', label: 'Open WebUI' });
});

test('an admin who signed in makes keys for anybody, and sees no tenants', async () => {
  callsAs({ user: 'anna', name: 'Anna', signed_in: true });
  const sent = keeps();
  renderAt('/keys?part=keys', <PeoplePage />);
  await userEvent.click(await screen.findByRole('button', { name: 'New key' }));
  const user = await screen.findByRole('combobox', { name: 'User' });
  expect(user).toHaveValue('anna');
  await userEvent.clear(user);
  await userEvent.type(user, 'ben');
  await userEvent.click(screen.getByRole('button', { name: 'Make the key' }));
  await screen.findByText(TEXT);
  expect(sent.made).toEqual({ role: 'write', label: '', user: 'ben' });
  expect(screen.queryByRole('tab', { name: 'Tenants' })).toBeNull();
});

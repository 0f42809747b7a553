import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { callsAs, NOBODY, server } from '@/shared/testing/server';
import { AccountPage } from './AccountPage';

const WANTED = () => HttpResponse.json({ error: 'Who is it?', code: 'confirmation_needed' }, { status: 403 });

const USE = { tenant: 'default', what: 'memories', limit: 100, resets_at: null };
const USES = [
  { ...USE, user: null, used: 70 },
  { ...USE, user: 'mira', used: 25 },
];

/** The account of somebody who signed in a while ago; what they confirm with is gathered in `shown`. */
function signedInLongAgo(shown: unknown[]) {
  callsAs({ name: 'Mira', user: 'mira', signed_in: true });
  const ways = { ...NOBODY.ways, passkey: { available: false, reason: 'Only at https.' } };
  server.use(
    http.get('*/api/auth', () => HttpResponse.json({ ...NOBODY, has_users: true, ways })),
    http.get('*/api/me/passkeys', () => HttpResponse.json({ results: [] })),
    http.get('*/api/me/sessions', () => HttpResponse.json({ results: [] })),
    http.get('*/api/usage', () => HttpResponse.json({ period: {}, results: USES, buckets: [] })),
    http.put('*/api/me/password', () => (shown.length ? new HttpResponse(null, { status: 204 }) : WANTED())),
    http.post('*/api/me/confirm', async ({ request }) => {
      const body = (await request.json()) as { password: string };
      if (body.password !== 'right')
        return HttpResponse.json({ error: 'That is not your password.', code: 'wrong_sign_in' }, { status: 401 });
      shown.push(body);
      return new HttpResponse(null, { status: 204 });
    }),
  );
}

async function choosePassword() {
  await userEvent.type(await screen.findByLabelText('New password'), 'a longer password{Enter}');
  return screen.findByRole('dialog', { name: 'Is it you?' });
}

test('a password is changed once its owner showed again who they are', async () => {
  const shown: unknown[] = [];
  signedInLongAgo(shown);
  renderAt('/account', <AccountPage />);
  await choosePassword();
  await userEvent.type(screen.getByLabelText('Your password'), 'wrong{Enter}');
  expect(await screen.findByText('That is not your password.')).toBeVisible();
  await userEvent.clear(screen.getByLabelText('Your password'));
  await userEvent.type(screen.getByLabelText('Your password'), 'right{Enter}');
  expect(await screen.findByText(/The password was changed/)).toBeVisible();
  expect(shown).toEqual([{ password: 'right' }]);
});

test('nothing is changed when the question is closed', async () => {
  const shown: unknown[] = [];
  signedInLongAgo(shown);
  renderAt('/account', <AccountPage />);
  await choosePassword();
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(await screen.findByText('Who is it?')).toBeVisible();
  expect(shown).toEqual([]);
});

test('a person sees what is stored for them, and nobody else, beside the quotas', async () => {
  signedInLongAgo([]);
  renderAt('/account', <AccountPage />);
  expect(await screen.findByRole('row', { name: /mira\s*Memories\s*25\s*100/ })).toBeVisible();
  expect(screen.queryByRole('row', { name: /Tenant default/ })).toBeNull();
});

test('a person says where they live, and takes it back', async () => {
  const told: unknown[] = [];
  signedInLongAgo([]);
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const mira = { id: 'u_1', name: 'Mira', tenant: 'default', role: 'write' as const, operator: false };
  const rest = { memory_user: 'mira', projects: null, configs: null };
  let zone: string | null = null;
  server.use(
    http.get('*/api/auth', () =>
      HttpResponse.json({ ...NOBODY, has_users: true, user: { ...mira, ...rest, time_zone: zone } }),
    ),
    http.patch('*/api/me', async ({ request }) => {
      const body = (await request.json()) as { time_zone: string | null };
      told.push(body.time_zone);
      zone = body.time_zone;
      return HttpResponse.json({ ...mira, ...rest, time_zone: zone });
    }),
  );
  renderAt('/account', <AccountPage />);
  await userEvent.click(await screen.findByRole('button', { name: `Use ${here}` }));
  await userEvent.click(await screen.findByRole('button', { name: 'Forget it' }));
  expect(await screen.findByRole('button', { name: `Use ${here}` })).toBeVisible();
  expect(told).toEqual([here, null]);
});

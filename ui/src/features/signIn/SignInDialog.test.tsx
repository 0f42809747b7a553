import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { sessionToken } from '@/shared/api/session';
import type { Auth } from '@/shared/data/access';
import { renderAt } from '@/shared/testing/render';
import { callsAs, NOBODY, server } from '@/shared/testing/server';
import { SignInDialog } from './SignInDialog';

/** A server that wants a sign-in, as it tells of itself. */
function wants(auth: Partial<Auth>) {
  callsAs({});
  sessionStorage.clear();
  server.use(http.get('*/api/auth', () => HttpResponse.json({ ...NOBODY, has_users: true, ...auth })));
}

test('without users a key is asked for', async () => {
  wants({ has_users: false });
  renderAt('/', <SignInDialog onAccepted={() => undefined} />);
  expect(await screen.findByRole('dialog', { name: 'API key' })).toBeVisible();
  expect(screen.queryByRole('button', { name: /name and password/ })).toBeNull();
});

test('a password that is refused is told at its field; the right one goes on, and forgets the key of before', async () => {
  wants({});
  sessionStorage.setItem('mnemoirKey', 'mn_live_aaaaaaaa_secret');
  server.use(
    http.post('*/api/auth/password', async ({ request }) => {
      const { password } = (await request.json()) as { password: string };
      if (password !== 'right') return HttpResponse.json({ error: 'Wrong.', code: 'wrong_sign_in' }, { status: 401 });
      server.use(http.get('*/api/auth', () => HttpResponse.json({ ...NOBODY, has_users: true, csrf: 'token' })));
      return HttpResponse.json({ user: {}, csrf: 'token' });
    }),
  );
  const onAccepted = vi.fn();
  renderAt('/', <SignInDialog onAccepted={onAccepted} />);
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'Mira');
  await userEvent.type(screen.getByLabelText('Password'), 'wrong{Enter}');
  expect(await screen.findByText('Wrong.')).toBeVisible();
  expect(onAccepted).not.toHaveBeenCalled();
  await userEvent.clear(screen.getByLabelText('Password'));
  await userEvent.type(screen.getByLabelText('Password'), 'right{Enter}');
  await waitFor(() => expect(onAccepted).toHaveBeenCalled());
  expect([sessionStorage.getItem('mnemoirKey'), sessionToken()]).toEqual([null, 'token']);
});

test('another way begins in its first field, with the name that was typed', async () => {
  wants({});
  renderAt('/', <SignInDialog onAccepted={() => undefined} />);
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'Mira');
  await userEvent.click(await screen.findByRole('button', { name: 'Use a recovery code' }));
  expect(screen.getByRole('textbox', { name: 'Name' })).toHaveFocus();
  expect(screen.getByRole('textbox', { name: 'Name' })).toHaveValue('Mira');
});

test('where passkeys do not work the page says why, and identity providers are offered', async () => {
  const ways = {
    password: true,
    passkey: { available: false, reason: 'Only at https.' },
    oidc: [{ id: 'work', name: 'Work' }],
  };
  wants({ ways });
  renderAt('/runs?id=a', <SignInDialog onAccepted={() => undefined} />);
  expect(await screen.findByRole('button', { name: 'Sign in with a passkey' })).toBeDisabled();
  expect(screen.getByText('Only at https.')).toBeVisible();
  expect(screen.getByRole('link', { name: 'Sign in with Work' })).toHaveAttribute(
    'href',
    expect.stringMatching(/\/api\/auth\/oidc\/work\/start\?to=%2Fruns%3Fid%3Da$/),
  );
});

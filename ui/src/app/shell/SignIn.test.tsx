import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { callsAs, server, tellsOfSignIn } from '@/shared/testing/server';
import { KeyGate } from './KeyGate';

const anna = {
  ...{ name: 'Anna', tenant: 'default', role: 'write' as const, operator: false, memory_user: 'anna' },
  ...{ projects: null, configs: null },
};

/** A server of people, of whom nobody has signed in here. */
function hasPeople() {
  callsAs({ name: 'Anna', key: 'user:Anna', signed_in: true });
  sessionStorage.clear();
  server.use(tellsOfSignIn({ has_users: true }));
}

test('where people sign in the page asks for a name, and then sends the token with each change', async () => {
  hasPeople();
  const sent: (string | null)[] = [];
  server.use(
    http.post('*/api/auth/password', async ({ request }) => {
      expect(await request.json()).toEqual({ name: 'anna', password: 'a few words' });
      return HttpResponse.json({ user: anna, csrf: 'token' });
    }),
    http.get('*/api/me', ({ request }) => {
      sent.push(request.headers.get('X-Mnemoir-CSRF'));
      return HttpResponse.json({});
    }),
  );
  renderAt('/', <KeyGate>inside</KeyGate>);
  await userEvent.type(await screen.findByLabelText('Name'), 'anna');
  await userEvent.type(screen.getByLabelText('Password'), 'a few words');
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  expect(await screen.findByText('inside')).toBeInTheDocument();
  await waitFor(() => expect(sent).toEqual(['token']));
});

test('a wrong password is told, and nothing is shown', async () => {
  hasPeople();
  const problem = { detail: 'Name or password is wrong.', error: '', code: 'wrong_sign_in', request_id: 'r' };
  server.use(http.post('*/api/auth/password', () => HttpResponse.json(problem, { status: 401 })));
  renderAt('/', <KeyGate>inside</KeyGate>);
  await userEvent.type(await screen.findByLabelText('Name'), 'anna');
  await userEvent.type(screen.getByLabelText('Password'), 'a few words');
  await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  expect(await screen.findByText('Name or password is wrong.')).toBeInTheDocument();
  expect(screen.queryByText('inside')).toBeNull();
});

test('a key still opens a server of people, and why there are no passkeys is told', async () => {
  hasPeople();
  server.use(
    tellsOfSignIn({
      has_users: true,
      ways: { password: true, passkey: { available: false, reason: 'Passkeys need https.' }, oidc: [] },
    }),
  );
  renderAt('/', <KeyGate>inside</KeyGate>);
  expect(await screen.findByText('Passkeys need https.')).toBeInTheDocument();
  await userEvent.click(screen.getByRole('button', { name: 'Use an API key' }));
  expect(await screen.findByLabelText('API key', { selector: 'input' })).toBeInTheDocument();
  await userEvent.click(screen.getByRole('button', { name: 'Sign in with your name' }));
  expect(await screen.findByLabelText('Name')).toBeInTheDocument();
});

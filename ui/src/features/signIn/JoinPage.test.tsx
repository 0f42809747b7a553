import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { Invitation } from '@/shared/data/signIn';
import { renderAt } from '@/shared/testing/render';
import { NOBODY, server } from '@/shared/testing/server';
import { JoinPage } from './JoinPage';

const INVITED: Invitation = {
  name: null,
  tenant: 'default',
  role: 'write',
  operator: false,
  memory_user: null,
  projects: null,
  configs: null,
  by: 'user:Anna',
  expires_at: null,
  resets: false,
};

/** A server with one identity provider, and the page at the link of an invitation. */
function openLink(invitation: Partial<Invitation> = {}) {
  const ways = { ...NOBODY.ways, oidc: [{ id: 'home', name: 'Home' }] };
  server.use(
    http.get('*/api/auth', () => HttpResponse.json({ ...NOBODY, has_users: true, ways })),
    http.post('*/api/auth/invitation', () => HttpResponse.json({ ...INVITED, ...invitation })),
  );
  renderAt('/join#a-token', <JoinPage />);
}

test('the invitation goes along to the identity provider', async () => {
  const asked: unknown[] = [];
  openLink();
  server.use(
    http.post('*/api/auth/oidc/home/start', async ({ request }) => {
      asked.push(await request.json());
      return HttpResponse.json({ error: 'It is away.', code: 'issuer_unavailable' }, { status: 503 });
    }),
  );
  await userEvent.click(await screen.findByRole('button', { name: 'Join with Home' }));
  expect(await screen.findByText('It is away.')).toBeVisible();
  await waitFor(() => expect(asked).toEqual([{ to: '/', invitation: 'a-token' }]));
});

test('whoever is given new secrets may go on with the identity provider instead', async () => {
  openLink({ name: 'Mira', resets: true });
  expect(await screen.findByRole('button', { name: 'Continue with Home' })).toBeVisible();
  expect(screen.getByText(/^The current one works until then/)).toBeVisible();
});

describe('the first admin is asked whose the memories of before are', () => {
  const anna = { id: 'u1', name: 'anna', tenant: 'default', role: 'admin', operator: true, memory_user: 'anna' };

  async function join(before: { memories: number; conversations: number }) {
    openLink({ role: 'admin', operator: true, by: 'terminal' });
    server.use(
      http.post('*/api/auth/join', () =>
        HttpResponse.json({ user: { ...anna, projects: null, configs: null }, csrf: 'c', recovery_codes: ['a-b'] }),
      ),
      http.get('*/api/users/u1/adopt', () => HttpResponse.json({ from_user: 'user', ...before })),
    );
    await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'anna');
    await userEvent.type(screen.getByLabelText('Password'), 'correct horse battery');
    await userEvent.click(screen.getByRole('button', { name: 'Continue with this password' }));
    await screen.findByRole('heading', { name: 'Welcome, anna' });
  }

  test('and takes them', async () => {
    const asked: unknown[] = [];
    await join({ memories: 4, conversations: 1 });
    expect(await screen.findByText(/^This server has 4 memories and 1 chat from before sign-in/)).toBeVisible();
    server.use(
      http.post('*/api/users/u1/adopt', async ({ request }) => {
        asked.push(await request.json());
        return HttpResponse.json({ from_user: 'user', to_user: 'anna', memories: ['default'], conversations: [] });
      }),
    );
    await userEvent.click(screen.getByRole('button', { name: 'They are mine' }));
    expect(await screen.findByText('They are yours now.')).toBeVisible();
    expect(asked).toEqual([{ from_user: 'user' }]);
  });

  test('or leaves them', async () => {
    await join({ memories: 1, conversations: 0 });
    expect(await screen.findByText(/^This server has 1 memory from/)).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Leave them' }));
    expect(screen.getByText(/^They stay where they are/)).toBeVisible();
  });

  test('but not where there is nothing', async () => {
    await join({ memories: 0, conversations: 0 });
    expect(screen.queryByText(/before sign-in/)).toBeNull();
  });
});

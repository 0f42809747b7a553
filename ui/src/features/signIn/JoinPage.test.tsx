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
  expect(screen.getByText(/^The one before counts until then/)).toBeVisible();
});

import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { renderAt } from '@/shared/testing/render';
import { http, HttpResponse } from 'msw';
import { noteSilence } from '@/shared/api/silence';
import { callsAs, server } from '@/shared/testing/server';
import { Shell } from './Shell';

/** The names of the pages in the navigation, once it is as it should be. */
async function expectPages(...names: string[]) {
  const navigation = screen.getByRole('navigation', { name: 'Pages' });
  await waitFor(() =>
    expect(
      within(navigation)
        .getAllByRole('link')
        .map(link => link.textContent),
    ).toEqual(names),
  );
}

const CONTENTS = ['Chat', 'Memories', 'Conversations', 'Runs'];

test.each([
  ['anybody, where nobody signs in', false],
  ['an admin', true],
])('%s manages people and keys', async (_, isKeyed) => {
  if (isKeyed) callsAs({});
  renderAt('/runs', <Shell />);
  await expectPages(...CONTENTS, 'Workflows', 'Connect', 'People and keys', 'Status');
});

test('who may write sees no page for admins, and a calm word at its address', async () => {
  callsAs({ roles: ['write'], may: { admin: false, manage: false, server: false } });
  renderAt('/status', <Shell />);
  await expectPages(...CONTENTS, 'Connect');
  expect(screen.getByRole('heading', { name: 'Your role does not allow this' })).toBeVisible();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('an operator sees no contents, and begins with the status', async () => {
  callsAs({ roles: ['operator'], may: { read: false, write: false, admin: false } });
  const { router } = renderAt('/', <Shell />);
  await expectPages('Connect', 'People and keys', 'Status');
  await waitFor(() => expect(router.state.location.pathname).toBe('/status'));
});

test('a person has a menu of their name, with their account', async () => {
  callsAs({ user: 'mira', name: 'Mira', signed_in: true, may: { admin: false, manage: false, server: false } });
  renderAt('/runs', <Shell />);
  await userEvent.click(await screen.findByRole('button', { name: 'Account of Mira' }));
  expect(await screen.findByRole('menuitem', { name: 'My account' })).toHaveAttribute('href', '/account');
  expect(screen.getByRole('menuitem', { name: 'Sign out' })).toBeVisible();
});

test('a bar tells that the server does not answer, and goes when it does', async () => {
  let isGone = true;
  server.use(http.get('*/health', () => (isGone ? HttpResponse.error() : HttpResponse.json({ llm: 'configured' }))));
  renderAt('/runs', <Shell />);
  expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  act(noteSilence);
  expect(screen.getByRole('alert')).toHaveTextContent(/^The server does not answer/);
  isGone = false;
  await waitFor(() => expect(screen.queryByRole('alert')).not.toBeInTheDocument());
});

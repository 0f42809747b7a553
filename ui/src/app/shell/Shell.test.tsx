import { screen, waitFor, within } from '@testing-library/react';
import { renderAt } from '@/shared/testing/render';
import { callsAs } from '@/shared/testing/server';
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

test('keys are no page where nobody needs one', async () => {
  renderAt('/runs', <Shell />);
  await expectPages(...CONTENTS, 'Workflows', 'Connect', 'Status');
});

test('an admin manages keys', async () => {
  callsAs({});
  renderAt('/runs', <Shell />);
  await expectPages(...CONTENTS, 'Workflows', 'Connect', 'Keys', 'Status');
});

test('who may write sees no page for admins, and a calm word at its address', async () => {
  callsAs({ roles: ['write'], may: { admin: false, manage: false, server: false } });
  renderAt('/status', <Shell />);
  await expectPages(...CONTENTS, 'Connect');
  expect(screen.getByRole('heading', { name: 'Your key does not allow this' })).toBeVisible();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('an operator sees no contents, and begins with the status', async () => {
  callsAs({ roles: ['operator'], may: { read: false, write: false, admin: false } });
  const { router } = renderAt('/', <Shell />);
  await expectPages('Connect', 'Keys', 'Status');
  await waitFor(() => expect(router.state.location.pathname).toBe('/status'));
});

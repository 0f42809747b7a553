import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { User } from '@/shared/data/users';
import { renderAt } from '@/shared/testing/render';
import { callsAs, server } from '@/shared/testing/server';
import { UsersTab } from './UsersTab';

const ANNA: User = {
  id: 'u_anna',
  name: 'Anna',
  tenant: 'default',
  role: 'write',
  operator: false,
  memory_user: 'anna',
  projects: null,
  configs: null,
  created_at: new Date(0).toISOString(),
  created_by: 'command line',
  disabled: false,
  last_seen_at: null,
  has_password: true,
  passkeys: 0,
};

/** The page of an admin, on a server that Anna signs in to. */
function open() {
  callsAs({});
  server.use(
    http.get('*/api/users', () => HttpResponse.json({ results: [ANNA], next: null })),
    http.get('*/api/users/memory', () => HttpResponse.json({ results: ['anna', 'household'] })),
    http.get('*/api/invitations', () => HttpResponse.json({ results: [] })),
  );
  renderAt('/keys?part=users', <UsersTab />);
}

async function choose(action: string) {
  await userEvent.click(await screen.findByRole('button', { name: 'Actions of Anna' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: action }));
}

test('what was kept before anybody signed in is given to a person', async () => {
  const asked: unknown[] = [];
  open();
  server.use(
    http.post('*/api/users/u_anna/adopt', async ({ request }) => {
      const body = (await request.json()) as { from_user: string };
      asked.push(body);
      if (body.from_user === 'user')
        return HttpResponse.json({ error: 'Anna has some already.', code: 'memories_exist' }, { status: 409 });
      return HttpResponse.json({ ...body, to_user: 'anna', memories: ['default', 'kitchen'], conversations: [] });
    }),
  );
  await choose('Give memories…');
  const dialog = await screen.findByRole('dialog', { name: 'Give memories to Anna' });
  await userEvent.click(within(dialog).getByRole('button', { name: 'Give' }));
  expect(await within(dialog).findByText('Anna has some already.')).toBeVisible();
  const field = within(dialog).getByRole('combobox', { name: 'Kept under' });
  await userEvent.clear(field);
  await userEvent.type(field, 'household{Enter}');
  expect(await within(dialog).findByRole('status')).toHaveTextContent('Given: the memories of default, kitchen.');
  expect(asked).toEqual([{ from_user: 'user' }, { from_user: 'household' }]);
});

import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { Me } from '@/shared/data/access';
import type { Hold } from '@/shared/data/subjects';
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

const HOLD: Hold = {
  user_id: 'anna',
  tenant: 'default',
  reason: 'Case 12',
  set_at: new Date(0).toISOString(),
  set_by: 'k1',
};

/** The page of an admin, on a server that Anna signs in to. */
function open(holds: Hold[] = [], may: Partial<Me['may']> = {}) {
  callsAs({ may });
  server.use(
    http.get('*/api/users', () => HttpResponse.json({ results: [ANNA], next: null })),
    http.get('*/api/users/memory', () => HttpResponse.json({ results: ['anna', 'household'] })),
    http.get('*/api/invitations', () => HttpResponse.json({ results: [] })),
    http.get('*/api/holds', () => HttpResponse.json({ results: holds })),
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

test('everything of a person is erased once their name was typed, and the report told', async () => {
  const asked: string[] = [];
  const backup = { made_at: '2026-01-01', path: '/backups/one', keep: 3, ends_at: null };
  open();
  server.use(
    http.post('*/api/subjects/anna/erase', ({ request }) => {
      asked.push(new URL(request.url).search);
      const counts = { memories: 1200, conversations: 0, audit_entries: 4 };
      return HttpResponse.json({
        user_id: 'anna',
        tenant: 'default',
        projects: [],
        counts,
        backups: [backup],
        live_keys: [],
      });
    }),
  );
  await choose('Erase data…');
  const dialog = await screen.findByRole('dialog', { name: 'Erase all data' });
  const go = within(dialog).getByRole('button', { name: 'Erase everything' });
  await userEvent.type(within(dialog).getByRole('textbox'), 'Anna');
  expect(go).toBeDisabled();
  await userEvent.clear(within(dialog).getByRole('textbox'));
  await userEvent.type(within(dialog).getByRole('textbox'), 'anna');
  await userEvent.click(go);
  expect(await within(dialog).findByRole('status')).toHaveTextContent(
    /^Erased of anna:\s*memories: 1,200\s*audit entries: 4$/,
  );
  expect(within(dialog).getByText(/one\) still holds it, until there are 3 newer ones/)).toBeVisible();
  expect(asked).toEqual(['?tenant=default']);
});

const KEY = {
  id: 'abcd2345',
  label: 'script',
  role: 'admin',
  tenant: 'default',
  projects: null,
  user: null,
  configs: null,
  created_by: 'user:u_anna',
  expires_at: null,
  end: 'DELETE /api/keys/abcd2345',
};

test('keys that go on after somebody was removed are shown and ended', async () => {
  const ended: string[] = [];
  open();
  server.use(
    http.delete('*/api/users/u_anna', () => {
      server.use(http.get('*/api/users', () => HttpResponse.json({ results: [], next: null })));
      return HttpResponse.json({ removed: 'Anna', ended_keys: [], live_keys: [KEY], open_invitations: [] });
    }),
    http.delete('*/api/keys/:id', ({ params }) => {
      ended.push(String(params.id));
      return HttpResponse.json({});
    }),
  );
  await choose('Remove…');
  await userEvent.click(await screen.findByRole('button', { name: 'Remove' }));
  const dialog = await screen.findByRole('dialog', { name: 'What still works' });
  expect(dialog).toHaveTextContent('Key abcd2345 (script): admin, all projects and users');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Revoke abcd2345' }));
  expect(await within(dialog).findByRole('status')).toHaveTextContent('ended');
  expect(ended).toEqual(['abcd2345']);
});

test('a person is held for a reason', async () => {
  const asked: unknown[] = [];
  open();
  server.use(
    http.put('*/api/holds/anna', async ({ request }) => {
      asked.push(await request.json());
      return HttpResponse.json(HOLD);
    }),
  );
  await choose('Hold…');
  const dialog = await screen.findByRole('dialog', { name: 'Legal hold' });
  await userEvent.type(within(dialog).getByRole('textbox', { name: 'Reason' }), 'Case 12{Enter}');
  await waitFor(() => expect(asked).toEqual([{ reason: 'Case 12' }]));
});

test('whoever is on hold is marked, cannot be erased, and is released', async () => {
  let lifted = 0;
  open([HOLD]);
  server.use(
    http.delete('*/api/holds/anna', () => {
      lifted += 1;
      return HttpResponse.json({ results: [] });
    }),
  );
  expect(await screen.findByText('on hold')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Actions of Anna' }));
  expect(await screen.findByRole('menuitem', { name: 'Lift the hold…' })).toBeVisible();
  expect(screen.queryByRole('menuitem', { name: 'Erase data…' })).toBeNull();
  await userEvent.click(screen.getByRole('menuitem', { name: 'Lift the hold…' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Lift the hold' }));
  await waitFor(() => expect(lifted).toBe(1));
});

test('the archive of a person is saved under their name', async () => {
  const saved: string[] = [];
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    saved.push(this.download);
  });
  Object.assign(URL, { createObjectURL: () => 'blob:one', revokeObjectURL: () => undefined });
  open();
  server.use(http.post('*/api/subjects/anna/export', () => HttpResponse.text('zip')));
  await choose('Export data');
  await waitFor(() => expect(saved).toEqual(['anna.zip']));
  click.mockRestore();
});

test('whoever may not see contents is offered none of it', async () => {
  open([], { admin: false });
  await userEvent.click(await screen.findByRole('button', { name: 'Actions of Anna' }));
  expect(await screen.findByRole('menuitem', { name: 'Change…' })).toBeVisible();
  expect(screen.queryByRole('menuitem', { name: /Export|Hold|Erase/ })).toBeNull();
});

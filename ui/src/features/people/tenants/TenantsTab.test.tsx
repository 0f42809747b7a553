import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { Tenant } from '@/shared/data/apiKeys';
import { renderAt } from '@/shared/testing/render';
import { callsAs, server } from '@/shared/testing/server';
import { TenantsTab } from './TenantsTab';

const ACME: Tenant = {
  name: 'acme',
  suspended_at: null,
  created_at: new Date(0).toISOString(),
  keys: 2,
  limits: {},
  retention: {},
};

/** The tab of an operator, on a server with that tenant, and what was put to it. */
function open(tenant: Partial<Tenant> = {}): unknown[] {
  const put: unknown[] = [];
  const shown = { ...ACME, ...tenant };
  const answer = () =>
    HttpResponse.json({ results: [shown], retention: { memories_days: 0, history_days: 90, deleted_days: 30 } });
  callsAs({ roles: ['operator'] });
  server.use(
    http.get('*/api/tenants', answer),
    http.put('*/api/tenants', async ({ request }) => {
      const body = (await request.json()) as Partial<Tenant>;
      put.push(body);
      shown.retention = body.retention ?? {};
      return answer();
    }),
  );
  renderAt('/keys?part=tenants', <TenantsTab />);
  return put;
}

async function openRetention() {
  await userEvent.click(await screen.findByRole('button', { name: 'Retention: acme' }));
  return within(await screen.findByRole('dialog', { name: 'Retention of acme' }));
}

const row = () => screen.getByRole('row', { name: /acme/ });

test('a tenant keeps as long as it says, and else as the settings say', async () => {
  const put = open({ retention: { deleted_days: 7 } });
  const dialog = await openRetention();
  const memories = dialog.getByRole('textbox', { name: 'Memories' });
  expect(memories).toHaveAttribute('placeholder', 'forever');
  expect(dialog.getByRole('textbox', { name: 'History of memories' })).toHaveAttribute('placeholder', '90 days');
  const deleted = dialog.getByRole('textbox', { name: 'Deleted memories' });
  expect(deleted).toHaveValue('7 days');
  await userEvent.type(memories, '365');
  await userEvent.clear(deleted);
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(row()).toHaveTextContent('Memories: 365 days'));
  expect(put).toEqual([{ name: 'acme', suspended: false, retention: { memories_days: 365 } }]);
});

test('without any of its own it is as all, and a suspended one stays so', async () => {
  const put = open({ suspended_at: new Date(0).toISOString(), retention: { memories_days: 0 } });
  const dialog = await openRetention();
  expect(row()).toHaveTextContent('Memories: forever');
  await userEvent.clear(dialog.getByRole('textbox', { name: 'Memories' }));
  await userEvent.click(dialog.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(row()).toHaveTextContent('as for the server'));
  expect(put).toEqual([{ name: 'acme', suspended: true, retention: {} }]);
});

test('what the server has against the days stands at the field', async () => {
  open();
  server.use(
    http.put('*/api/tenants', () => {
      const detail = [{ loc: ['retention.history_days'], msg: 'history_days is too long.' }];
      return HttpResponse.json({ detail, code: 'validation_error' }, { status: 422 });
    }),
  );
  const dialog = await openRetention();
  const history = dialog.getByRole('textbox', { name: 'History of memories' });
  await userEvent.type(history, '40000{Enter}');
  await waitFor(() => expect(history).toBeInvalid());
  expect(history).toHaveAccessibleDescription(/history_days is too long\./);
  expect(dialog.queryByRole('alert')).toBeNull();
});

test('any other refusal is told below the fields', async () => {
  open();
  server.use(http.put('*/api/tenants', () => HttpResponse.json({ error: 'The disk is full.' }, { status: 503 })));
  const dialog = await openRetention();
  await userEvent.type(dialog.getByRole('textbox', { name: 'Memories' }), '30{Enter}');
  expect(await dialog.findByRole('alert')).toHaveTextContent('The disk is full.');
});

import { screen } from '@testing-library/react';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { UsageTab } from './UsageTab';

test('use stands beside its quota, sizes in units, and a tenant by its name', async () => {
  const use = { tenant: 'default', user: 'mira', limit: null, resets_at: null };
  const results = [
    { ...use, user: null, what: 'memories', used: 1200 },
    { ...use, what: 'disk_bytes', used: 2048, limit: 4096 },
  ];
  const buckets = [{ bucket: 'chat', limit: 120, remaining: 7, reset_s: 12.5 }];
  server.use(
    http.get('*/api/usage', () =>
      HttpResponse.json({ period: { day: '2026-03-01', month: '2026-03' }, results, buckets }),
    ),
  );
  renderAt('/keys?part=usage', <UsageTab />);
  expect(await screen.findByRole('row', { name: /Tenant default\s*Memories\s*1,200\s*none/ })).toBeVisible();
  expect(screen.getByRole('row', { name: /mira\s*Disk\s*2 KiB\s*4 KiB/ })).toBeVisible();
  expect(screen.getByRole('progressbar', { name: 'Disk of mira: 50 %' })).toBeVisible();
  expect(screen.getByRole('row', { name: /chat\s*7\s*120\s*13 s/ })).toBeVisible();
});

test('a server that counts nothing says so', async () => {
  server.use(http.get('*/api/usage', () => HttpResponse.json({ error: 'None.' }, { status: 404 })));
  renderAt('/keys?part=usage', <UsageTab />);
  expect(await screen.findByRole('heading', { name: 'No use yet' })).toBeVisible();
});

import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { zoneHere } from '@/shared/api/zone';
import { renderAt } from '@/shared/testing/render';
import { callsAs, NOBODY, server } from '@/shared/testing/server';
import { TimeZoneOffer } from './TimeZoneOffer';

/** Somebody signed in, who tells their time zone into `told`. */
function signedIn(told: unknown[], zone: string | null = null) {
  callsAs({ name: 'Mira', user: 'mira', signed_in: true });
  const mira = { id: 'u_1', name: 'Mira', tenant: 'default', role: 'write' as const, operator: false };
  const user = { ...mira, memory_user: 'mira', projects: null, configs: null, time_zone: zone };
  server.use(
    http.get('*/api/auth', () => HttpResponse.json({ ...NOBODY, has_users: true, user })),
    http.patch('*/api/me', async ({ request }) => {
      told.push(await request.json());
      return HttpResponse.json({ ...user, time_zone: zoneHere() });
    }),
  );
}

test('a person is asked once for their time zone, and it is kept', async () => {
  const told: unknown[] = [];
  signedIn(told);
  renderAt('/', <TimeZoneOffer />);
  await userEvent.click(await screen.findByRole('button', { name: 'Yes' }));
  await waitFor(() => expect(screen.queryByRole('group', { name: 'Time zone' })).toBeNull());
  expect(told).toEqual([{ time_zone: zoneHere() }]);
});

test('whoever says no is not asked again', async () => {
  const told: unknown[] = [];
  signedIn(told);
  renderAt('/', <TimeZoneOffer />);
  await userEvent.click(await screen.findByRole('button', { name: 'No' }));
  expect(screen.queryByRole('group', { name: 'Time zone' })).toBeNull();
  expect(told).toEqual([]);
  expect(localStorage.getItem('mnemoir.timeZoneOffered')).toBe('no');
});

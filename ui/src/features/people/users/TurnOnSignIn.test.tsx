import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { TurnOnSignIn } from './TurnOnSignIn';

test('a wrong code is said at its field, where it can be put right', async () => {
  const asked: unknown[] = [];
  server.use(
    http.get('*/api/auth/clients', () => HttpResponse.json({ results: [] })),
    http.post('*/api/auth/first-code', () => HttpResponse.json({ printed: true }, { status: 202 })),
    http.post('*/api/auth/invitation', async ({ request }) => {
      asked.push(await request.json());
      return HttpResponse.json({ error: 'There is no such invitation.', code: 'not_found' }, { status: 404 });
    }),
  );
  const { router } = renderAt('/keys?part=users', <TurnOnSignIn />);
  await userEvent.click(screen.getByRole('button', { name: 'Turn on sign-in…' }));
  const field = await screen.findByRole('textbox', { name: 'Code' });
  await userEvent.type(field, ' abcd-efgh {Enter}');
  expect(await screen.findByText(/^That code does not match/)).toBeVisible();
  expect(field).toHaveAccessibleDescription(/^That code does not match/);
  expect(router.state.location.pathname).toBe('/keys');
  await userEvent.type(field, 'x');
  expect(screen.queryByText(/^That code does not match/)).toBeNull();
  expect(asked).toEqual([{ token: 'abcd-efgh' }]);
});

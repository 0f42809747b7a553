import { http, HttpResponse } from 'msw';
import { server } from '@/shared/testing/server';
import { client, isBySession, send, unwrap } from './client';
import { keepKey, onMissingKey } from './key';
import { keepSession } from './session';

const refuse = (status: number, code: string) =>
  server.use(http.all('*/api/projects', () => HttpResponse.json({ error: 'No.', code }, { status })));

/** How often a request that fails made the page ask to sign in. */
async function asks(call: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const stop = onMissingKey(() => count++);
  await call().catch(() => undefined);
  stop();
  return count;
}

test('a sign-in sends its token beside the cookie, a key in its place', async () => {
  const seen: (string | null)[][] = [];
  server.use(
    http.get('*/api/projects', ({ request }) => {
      seen.push([request.headers.get('X-Mnemoir-CSRF'), request.headers.get('Authorization')]);
      return HttpResponse.json({ results: [] });
    }),
  );
  keepSession('token');
  expect(isBySession()).toBe(true);
  await unwrap(client.GET('/api/projects'));
  keepKey('k', false);
  expect(isBySession()).toBe(false);
  await send('/api/projects');
  expect(seen).toEqual([
    ['token', null],
    [null, 'Bearer k'],
  ]);
});

test('every request tells the time zone of the person', async () => {
  const seen: (string | null)[] = [];
  server.use(
    http.get('*/api/projects', ({ request }) => {
      seen.push(request.headers.get('X-Timezone'));
      return HttpResponse.json({ results: [] });
    }),
  );
  await unwrap(client.GET('/api/projects'));
  await send('/api/projects');
  expect(seen).toEqual(Array(2).fill(Intl.DateTimeFormat().resolvedOptions().timeZone));
});

test.each([
  [401, 'unauthorized', 1],
  [401, 'wrong_sign_in', 0],
  [403, 'csrf', 1],
  [403, 'forbidden', 0],
])('a refusal with %s %s asks to sign in %s times', async (status, code, times) => {
  refuse(status, code);
  expect(await asks(() => unwrap(client.GET('/api/projects')))).toBe(times);
  expect(await asks(() => send('/api/projects'))).toBe(times);
});

test('a sign-in that ended is told as that, and a key that is wrong in the words of the server', async () => {
  refuse(401, 'unauthorized');
  keepSession('token');
  await expect(unwrap(client.GET('/api/projects'))).rejects.toThrow('You were signed out.');
  keepKey('k', false);
  await expect(unwrap(client.GET('/api/projects'))).rejects.toThrow('No.');
});

test.each([
  [['body', 'retention', 'memories_days'], 'retention.memories_days'],
  [['retention.memories_days'], 'retention.memories_days'],
])('a refusal names the place that it is about, given as %j', async (loc, place) => {
  const detail = [{ loc, msg: 'Too long.' }];
  server.use(http.put('*/api/tenants', () => HttpResponse.json({ detail }, { status: 422 })));
  const refusal = await unwrap(client.PUT('/api/tenants', { body: { name: 'acme', suspended: false } })).catch(
    (error: unknown) => error,
  );
  expect(refusal).toMatchObject({ message: `${place}: Too long.`, problems: { [place]: 'Too long.' } });
});

import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import type { Auth, Me } from '../data/access';

/** A server without users. */
export const NOBODY: Auth = {
  required: true,
  has_users: false,
  user: null,
  csrf: null,
  ways: { password: true, passkey: { available: true, reason: null }, oidc: [] },
  secure: false,
};

/** The server as tests play it; each test adds what it needs with `server.use(http.get(...))`. */
export const server = setupServer(
  http.get('*/api/model/found', () =>
    HttpResponse.json({ looked: false, url: 'http://127.0.0.1:11434', models: [] }),
  ),
  http.get('*/api/ui', () =>
    HttpResponse.json({ version: '0.0.0', project: 'default', user: 'user', needs_key: false }),
  ),
  http.get('*/api/memories', () => HttpResponse.json({ results: [], total: 0, next: null })),
  http.get('*/api/memories/:user/timeline', () => HttpResponse.json({ weeks: [], total: 0, undated: 0 })),
  http.get('*/api/sample', () => HttpResponse.json({ user_id: 'sample', state: 'none' })),
  http.get('*/api/runs', () => HttpResponse.json({ results: [], next: null })),
  http.get('*/api/auth', () => HttpResponse.json(NOBODY)),
  http.get('*/api/workflows', () => HttpResponse.json({ root: null, users: [], models: [], files: [] })),
  http.get('*/api/conversations/:id/answers', () => HttpResponse.json({ results: [] })),
  http.get('*/api/conversations/:id/messages/:message/learned', () =>
    HttpResponse.json({ state: 'none', error: null, change_id: null, undone_by: null, memories: [], known: [] }),
  ),
);

const ADMIN: Me = {
  tenant: 'default',
  roles: ['admin'],
  projects: null,
  user: null,
  configs: null,
  key: 'aaaaaaaa',
  name: null,
  signed_in: false,
  may: { read: true, write: true, admin: true, manage: true, server: true },
};

/** A server that needs a key, and has got that of an admin, but for `less`. */
export function callsAs({ may, ...less }: Partial<Omit<Me, 'may'>> & { may?: Partial<Me['may']> }) {
  sessionStorage.setItem('mnemoirKey', 'mn_live_aaaaaaaa_secret');
  server.use(
    http.get('*/api/ui', () =>
      HttpResponse.json({ version: '0.0.0', project: 'default', user: 'user', needs_key: true }),
    ),
    http.get('*/api/me', () => HttpResponse.json({ ...ADMIN, ...less, may: { ...ADMIN.may, ...may } })),
  );
}

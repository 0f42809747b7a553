import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';

/** The server as tests play it; each test adds what it needs with `server.use(http.get(...))`. */
export const server = setupServer(
  http.get('*/api/model/found', () =>
    HttpResponse.json({ looked: false, url: 'http://127.0.0.1:11434', models: [] }),
  ),
  http.get('*/api/ui', () =>
    HttpResponse.json({ version: '0.0.0', project: 'default', user: 'user', needs_key: false }),
  ),
  http.get('*/api/workflows', () => HttpResponse.json({ root: null, users: [], models: [], files: [] })),
  http.get('*/api/conversations/:id/answers', () => HttpResponse.json({ results: [] })),
  http.get('*/api/conversations/:id/messages/:message/learned', () =>
    HttpResponse.json({ state: 'none', error: null, change_id: null, undone_by: null, memories: [], known: [] }),
  ),
);

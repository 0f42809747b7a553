import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { ClientSeen } from '@/shared/data/status';
import { renderAt } from '@/shared/testing/render';
import { callsAs, server } from '@/shared/testing/server';
import { ConnectPage } from './ConnectPage';

const CURL: ClientSeen = {
  kind: 'curl',
  last_at: new Date(Date.now() - 180_000).toISOString(),
  route: 'POST /v1/chat/completions',
  model: 'mnemoir',
  memory: true,
  count: 2,
};

function answers(results: ClientSeen[]) {
  server.use(
    http.get('*/api/clients', () => HttpResponse.json({ since: '2026-01-01T00:00:00.000Z', results })),
    http.get('*/v1/models', () => HttpResponse.json({ object: 'list', data: [{ id: 'mnemoir' }] })),
  );
}

test('a client that has called shows when, how and how often', async () => {
  answers([CURL]);
  renderAt('/connect?client=curl', <ConnectPage />);
  expect(await screen.findByText(/Last call:/)).toHaveTextContent(
    'Last call: 3 minutes ago (POST /v1/chat/completions), model mnemoir, with memory. ' +
      '2 calls since the server started.',
  );
  expect(screen.getByRole('row', { name: /curl 3 minutes ago/ })).toBeVisible();
});

test('before the first call it says that there was none', async () => {
  answers([]);
  renderAt('/connect', <ConnectPage />);
  expect(await screen.findByText(/No calls since/)).toBeVisible();
  expect(screen.getByText(/No calls since the server started/)).toBeVisible();
});

test('the chosen client and the memory switch are in the address', async () => {
  answers([]);
  const { router } = renderAt('/connect', <ConnectPage />);
  await userEvent.click(screen.getByRole('tab', { name: 'Python, openai' }));
  expect(screen.getByRole('region', { name: 'Code, python' })).toHaveTextContent('X-Memory');
  await userEvent.click(screen.getByRole('switch', { name: 'With long-term memory' }));
  expect(screen.getByRole('region', { name: 'Code, python' })).not.toHaveTextContent('X-Memory');
  expect(router.state.location.search).toBe('?client=python&memory=off');
});

test('a server with keys gets the place of one', async () => {
  answers([]);
  server.use(
    http.get('*/api/ui', () =>
      HttpResponse.json({ version: '0.0.0', project: 'default', user: 'user', needs_key: true }),
    ),
  );
  renderAt('/connect?client=curl', <ConnectPage />);
  expect(await screen.findByText(/Use an API key instead of/)).toBeVisible();
  expect(screen.getByRole('link', { name: 'make one for this app' })).toBeVisible();
  expect(screen.getByRole('region', { name: 'Code, sh' })).toHaveTextContent('Authorization: Bearer YOUR_KEY');
});

test('whoever makes no keys is told who does', async () => {
  answers([]);
  callsAs({ roles: ['write'], may: { admin: false, manage: false, server: false } });
  server.use(
    http.get('*/api/ui', () =>
      HttpResponse.json({ version: '0.0.0', project: 'default', user: 'user', needs_key: true }),
    ),
  );
  renderAt('/connect?client=curl', <ConnectPage />);
  expect(await screen.findByText(/An admin makes one for you/)).toBeVisible();
});

test('calls that cannot be loaded leave the set-ups in place', async () => {
  answers([]);
  server.use(http.get('*/api/clients', () => HttpResponse.json({ error: 'It is broken.' }, { status: 500 })));
  renderAt('/connect', <ConnectPage />);
  expect(await screen.findByRole('alert')).toHaveTextContent('It is broken.');
  expect(screen.getByRole('tab', { name: 'Open WebUI' })).toBeVisible();
});

test('the tools of agents are seen when one is used', async () => {
  answers([{ ...CURL, kind: 'mcp', route: 'POST /api/memories/search', model: null, memory: null }]);
  renderAt('/connect?client=mcp', <ConnectPage />);
  expect(await screen.findByText(/Last call:/)).toHaveTextContent(
    'Last call: 3 minutes ago (POST /api/memories/search). 2 calls since the server started.',
  );
  expect(screen.getByRole('row', { name: /Agent, by MCP .* no chat/ })).toBeVisible();
});

test('each agent has its set-up, and any of them counts as connected', async () => {
  answers([{ ...CURL, kind: 'claude-code', route: 'POST /mcp', model: null, memory: null }]);
  renderAt('/connect?client=mcp', <ConnectPage />);
  expect(await screen.findByRole('tab', { name: 'MCP, connected' })).toBeVisible();
  for (const [agent, told] of [
    [/Claude Code/, 'claude mcp add --transport http mnemoir'],
    [/Codex/, '[mcp_servers.mnemoir]'],
    [/Cursor/, '"mcpServers"'],
    [/VS Code/, '"type": "http"'],
    [/LibreChat/, '{{LIBRECHAT_USER_ID}}'],
    [/only start programs/, '"command": "mnemoir"'],
  ] as const) {
    expect(screen.getByRole('region', { name: agent })).toHaveTextContent(told);
  }
  expect(screen.getByRole('row', { name: /Claude Code .* no chat/ })).toBeVisible();
});

test('what may be SillyTavern is not taken for it', async () => {
  answers([{ ...CURL, kind: 'node-fetch' }]);
  const { unmount } = renderAt('/connect?client=sillytavern', <ConnectPage />);
  expect(await screen.findByText(/Possibly SillyTavern/)).toHaveTextContent('other programs do');
  expect(screen.getByRole('tab', { name: 'SillyTavern' })).toBeVisible();
  expect(screen.getByText('X-Mnemoir-Client: "sillytavern"', { exact: false })).toBeVisible();
  unmount();
  answers([{ ...CURL, kind: 'sillytavern' }]);
  renderAt('/connect?client=sillytavern', <ConnectPage />);
  expect(await screen.findByText(/Last call:/)).toBeVisible();
  expect(screen.getByRole('tab', { name: 'SillyTavern, connected' })).toBeVisible();
});

test('an app in a container is pointed at the port of this server', async () => {
  answers([]);
  renderAt('/connect?client=open-webui', <ConnectPage />);
  const { port, protocol } = new URL(window.location.href);
  const address = `${protocol}//host.docker.internal${port && `:${port}`}`;
  expect(await screen.findByText(/In a container/)).toHaveTextContent(`often ${address}. Mnemoir`);
});

test('the keyboard alone chooses the client and switches the memory', async () => {
  answers([]);
  const { router } = renderAt('/connect', <ConnectPage />);
  screen.getByRole('tab', { name: 'Open WebUI' }).focus();
  await userEvent.keyboard('{ArrowRight}');
  expect(screen.getByRole('tab', { name: 'SillyTavern' })).toHaveFocus();
  expect(await screen.findByRole('tabpanel', { name: 'SillyTavern' })).toHaveTextContent(
    'Custom Endpoint (Base URL)',
  );
  screen.getByRole('switch', { name: 'With long-term memory' }).focus();
  await userEvent.keyboard(' ');
  await waitFor(() => expect(router.state.location.search).toBe('?client=sillytavern&memory=off'));
});

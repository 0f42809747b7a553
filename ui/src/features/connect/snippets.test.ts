import {
  agentFields,
  claudeCode,
  codexConfig,
  curl,
  headersOf,
  javascript,
  libreChatServers,
  mcpServers,
  mcpServersByAddress,
  openWebUiHeaders,
  type Place,
  pythonOllama,
  pythonOpenAI,
  vsCodeServers,
} from './snippets';

const PLAIN: Place = {
  url: 'http://127.0.0.1:6060',
  needsKey: false,
  model: 'mnemoir',
  user: '',
  project: '',
  anyUser: 'user',
  memory: true,
};

test('what the server takes anyway is left out', () => {
  expect(curl(PLAIN)).not.toMatch(/user":|project=|Authorization/);
  expect(pythonOpenAI(PLAIN)).toContain('default_headers={"X-Memory": "on"},');
  expect(pythonOllama({ ...PLAIN, memory: false })).not.toContain('headers');
});

test('a user, a project and a key stand where the protocol has a place for them', () => {
  const place = { ...PLAIN, user: 'mira', project: 'garden', needsKey: true };
  expect(curl(place)).toContain("chat/completions?project=garden'");
  expect(curl(place)).toContain("-H 'Authorization: Bearer YOUR_KEY'");
  expect(curl(place)).toContain('"user": "mira"');
  expect(javascript(place)).toContain('apiKey: "YOUR_KEY"');
  expect(javascript(place)).toContain('user: "mira"');
  expect(pythonOllama(place)).toContain('"X-User-Id": "mira"');
  expect(openWebUiHeaders(place)).toContain('"X-Mnemoir-Project": "garden"');
  expect(openWebUiHeaders(place)).toContain('"X-Mnemoir-Task": "{{TASK}}"');
});

test('a name with quotes ends no word of a shell and no text of a program', () => {
  const place = { ...PLAIN, user: `it's "me"` };
  expect(curl(place)).toContain(`"user": "it'\\''s \\"me\\""`);
  expect(pythonOpenAI(place)).toContain(`user="it's \\"me\\""`);
});

test('a name that no header can carry is left out of headers', () => {
  expect(headersOf({ ...PLAIN, user: 'Ünal' }, { withUser: true })).toEqual({ 'X-Memory': 'on' });
});

test('tools are started for one user of one server', () => {
  const place = { ...PLAIN, anyUser: 'mira', project: 'garden', needsKey: true };
  expect(JSON.parse(mcpServers(place))).toEqual({
    mcpServers: {
      mnemoir: {
        command: 'mnemoir',
        args: ['mcp', '--url', 'http://127.0.0.1:6060', '--user', 'mira', '--project', 'garden'],
        env: { API_KEYS: 'YOUR_KEY' },
      },
    },
  });
});

test('an agent gets the address of the tools, and the key and the user as headers', () => {
  const place = { ...PLAIN, user: 'mira', project: 'my garden', needsKey: true };
  const url = 'http://127.0.0.1:6060/mcp?project=my%20garden';
  const headers = { Authorization: 'Bearer YOUR_KEY', 'X-User-Id': 'mira' };
  expect(JSON.parse(mcpServersByAddress(place))).toEqual({ mcpServers: { mnemoir: { url, headers } } });
  expect(JSON.parse(vsCodeServers(place))).toEqual({ servers: { mnemoir: { type: 'http', url, headers } } });
  expect(claudeCode(place)).toBe(
    `claude mcp add --transport http mnemoir \\\n  '${url}' \\\n  --header 'Authorization: Bearer YOUR_KEY' \\\n  --header 'X-User-Id: mira'`,
  );
  expect(codexConfig(place)).toBe(
    `[mcp_servers.mnemoir]\nurl = "${url}"\nbearer_token_env_var = "MNEMOIR_API_KEY"\nhttp_headers = { "X-User-Id" = "mira" }`,
  );
  expect(libreChatServers(place)).toContain('      X-User-Id: "{{LIBRECHAT_USER_ID}}"');
  expect(agentFields(place).map(field => field.value)).toEqual([url, 'YOUR_KEY', 'mira']);
});

test('without a key, a user and a project an agent needs the address alone', () => {
  const url = 'http://127.0.0.1:6060/mcp';
  expect(JSON.parse(mcpServersByAddress(PLAIN))).toEqual({ mcpServers: { mnemoir: { url } } });
  expect(codexConfig(PLAIN)).toBe(`[mcp_servers.mnemoir]\nurl = "${url}"`);
  expect(claudeCode(PLAIN)).toBe(`claude mcp add --transport http mnemoir \\\n  ${url}`);
});

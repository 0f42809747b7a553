/** What a set-up is filled with. `user` and `project` are "" where the server's own will do. */
export interface Place {
  /** Of the server, without a final slash. */
  url: string;
  needsKey: boolean;
  model: string;
  user: string;
  project: string;
  /** The user even where the server's own will do. */
  anyUser: string;
  memory: boolean;
}

export const KEY_PLACEHOLDER = 'YOUR_KEY';

const HELLO = 'Hello! What do you remember about me?';

export function keyOf(place: Place): string {
  return place.needsKey ? KEY_PLACEHOLDER : 'any';
}

/** The headers by which a client says whose memory it means; `user` only where it cannot stand in the body. */
export function headersOf(place: Place, { withUser }: { withUser: boolean }): Record<string, string> {
  return {
    ...(place.memory ? { 'X-Memory': 'on' } : {}),
    ...(place.project ? { 'X-Mnemoir-Project': place.project } : {}),
    ...(withUser && place.user && isPlain(place.user) ? { 'X-User-Id': place.user } : {}),
  };
}

/** Whether a text can travel in a header. */
export function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

export function curl(place: Place): string {
  const body = {
    model: place.model,
    ...(place.memory ? { memoryEnabled: true } : {}),
    ...(place.user ? { user: place.user } : {}),
    messages: [{ role: 'user', content: HELLO }],
  };
  const query = place.project ? `?project=${encodeURIComponent(place.project)}` : '';
  return [
    `curl ${shell(`${place.url}/v1/chat/completions${query}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    ...(place.needsKey ? [`  -H 'Authorization: Bearer ${KEY_PLACEHOLDER}' \\`] : []),
    `  -d ${shell(JSON.stringify(body, null, 2))}`,
  ].join('\n');
}

export function pythonOpenAI(place: Place): string {
  return [
    'from openai import OpenAI',
    '',
    'client = OpenAI(',
    `    base_url=${text(`${place.url}/v1`)},`,
    `    api_key=${text(keyOf(place))},`,
    ...headerLine('    default_headers=', headersOf(place, { withUser: false })),
    ')',
    'answer = client.chat.completions.create(',
    `    model=${text(place.model)},`,
    ...(place.user ? [`    user=${text(place.user)},`] : []),
    `    messages=[{"role": "user", "content": ${text(HELLO)}}],`,
    ')',
    'print(answer.choices[0].message.content)',
  ].join('\n');
}

export function pythonOllama(place: Place): string {
  const key: Record<string, string> = place.needsKey ? { Authorization: `Bearer ${KEY_PLACEHOLDER}` } : {};
  return [
    'from ollama import Client',
    '',
    'client = Client(',
    `    host=${text(place.url)},`,
    ...headerLine('    headers=', { ...key, ...headersOf(place, { withUser: true }) }),
    ')',
    'answer = client.chat(',
    `    model=${text(place.model)},`,
    `    messages=[{"role": "user", "content": ${text(HELLO)}}],`,
    ')',
    'print(answer.message.content)',
  ].join('\n');
}

export function javascript(place: Place): string {
  const headers = headersOf(place, { withUser: false });
  return [
    'import OpenAI from "openai";',
    '',
    'const client = new OpenAI({',
    `  baseURL: ${text(`${place.url}/v1`)},`,
    `  apiKey: ${text(keyOf(place))},`,
    ...headerLine('  defaultHeaders: ', headers),
    '});',
    'const answer = await client.chat.completions.create({',
    `  model: ${text(place.model)},`,
    ...(place.user ? [`  user: ${text(place.user)},`] : []),
    `  messages: [{ role: "user", content: ${text(HELLO)} }],`,
    '});',
    'console.log(answer.choices[0].message.content);',
  ].join('\n');
}

/** The address of the tools. */
function toolsOf(place: Place): string {
  return `${place.url}/mcp${place.project ? `?project=${encodeURIComponent(place.project)}` : ''}`;
}

/** The headers of an agent that calls the tools. Its memory needs no switch, and the project stands in the address. */
function agentHeaders(place: Place): Record<string, string> {
  return {
    ...(place.needsKey ? { Authorization: `Bearer ${KEY_PLACEHOLDER}` } : {}),
    ...(place.user && isPlain(place.user) ? { 'X-User-Id': place.user } : {}),
  };
}

/** Makes Claude Code know the tools. */
export function claudeCode(place: Place): string {
  const headers = Object.entries(agentHeaders(place)).map(
    ([name, value]) => `--header ${shell(`${name}: ${value}`)}`,
  );
  const added = ['claude mcp add --transport http mnemoir', shell(toolsOf(place)), ...headers];
  return added.join(' \\\n  ');
}

/** A part of Codex's config.toml, which takes the key from a variable. */
export function codexConfig(place: Place): string {
  const { 'X-User-Id': user } = agentHeaders(place);
  return [
    '[mcp_servers.mnemoir]',
    `url = ${text(toolsOf(place))}`,
    ...(place.needsKey ? ['bearer_token_env_var = "MNEMOIR_API_KEY"'] : []),
    ...(user ? [`http_headers = { "X-User-Id" = ${text(user)} }`] : []),
  ].join('\n');
}

/** What Cursor and most other agents read that call the tools by themselves. */
export function mcpServersByAddress(place: Place): string {
  return JSON.stringify({ mcpServers: { mnemoir: addressed(place) } }, null, 2);
}

/** What VS Code reads. */
export function vsCodeServers(place: Place): string {
  return JSON.stringify({ servers: { mnemoir: { type: 'http', ...addressed(place) } } }, null, 2);
}

function addressed(place: Place) {
  const headers = agentHeaders(place);
  return { url: toolsOf(place), ...(Object.keys(headers).length ? { headers } : {}) };
}

/** A part of LibreChat's file. It says itself which of its people asks. */
export function libreChatServers(place: Place): string {
  const headers = { ...agentHeaders(place), 'X-User-Id': '{{LIBRECHAT_USER_ID}}' };
  return [
    'mcpServers:',
    '  mnemoir:',
    '    type: streamable-http',
    `    url: ${text(toolsOf(place))}`,
    '    headers:',
    ...Object.entries(headers).map(([name, value]) => `      ${name}: ${text(value)}`),
  ].join('\n');
}

/** What is filled in by hand, as n8n wants it. */
export function agentFields(place: Place): { label: string; value: string }[] {
  return [
    { label: 'Endpoint, HTTP Streamable', value: toolsOf(place) },
    { label: 'Bearer token', value: place.needsKey ? KEY_PLACEHOLDER : '' },
    { label: 'Header X-User-Id', value: agentHeaders(place)['X-User-Id'] ?? '' },
  ];
}

/** What agents read to start the tools by themselves. They ask for memories of one user only, which is named here. */
export function mcpServers(place: Place): string {
  const project = place.project ? ['--project', place.project] : [];
  const server = {
    command: 'mnemoir',
    args: ['mcp', '--url', place.url, '--user', place.anyUser, ...project],
    ...(place.needsKey ? { env: { API_KEYS: KEY_PLACEHOLDER } } : {}),
  };
  return JSON.stringify({ mcpServers: { mnemoir: server } }, null, 2);
}

/** Open WebUI's field for headers. It sends nothing that tells what it is or what it asks for itself, so these say it. */
export function openWebUiHeaders(place: Place): string {
  const says = { 'X-Mnemoir-Task': '{{TASK}}', 'X-Mnemoir-Client': 'open-webui' };
  return json({ ...headersOf(place, { withUser: true }), ...says });
}

/** SillyTavern's field for headers, which is YAML. What it sends by itself, others send too. */
export function sillyTavernHeaders(place: Place): string {
  return Object.entries({ ...headersOf(place, { withUser: true }), 'X-Mnemoir-Client': 'sillytavern' })
    .map(([name, value]) => `${name}: ${text(value)}`)
    .join('\n');
}

/** A header a line, as most apps want them. */
export function plainHeaders(place: Place): string {
  return Object.entries(headersOf(place, { withUser: true }))
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function headerLine(before: string, headers: Record<string, string>): string[] {
  return Object.keys(headers).length ? [`${before}${json(headers)},`] : [];
}

/** On one line, with spaces, which is an object in Python, JavaScript and JSON alike. */
function json(headers: Record<string, string>): string {
  const members = Object.entries(headers).map(([name, value]) => `${text(name)}: ${text(value)}`);
  return `{${members.join(', ')}}`;
}

/** A literal of Python, JavaScript, JSON and YAML alike. */
function text(value: string): string {
  return JSON.stringify(value);
}

/** One word of a shell command. */
function shell(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

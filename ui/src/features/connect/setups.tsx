import type { IconType } from 'react-icons';
import {
  TbApi,
  TbBrandJavascript,
  TbBrandPython,
  TbMessageChatbot,
  TbMoodSmile,
  TbTerminal2,
  TbTools,
} from 'react-icons/tb';
import type { ClientKind } from '@/shared/data/status';
import type { Perhaps } from './LastCall';
import {
  agentFields,
  claudeCode,
  codexConfig,
  curl,
  javascript,
  keyOf,
  libreChatServers,
  mcpServers,
  mcpServersByAddress,
  openWebUiHeaders,
  type Place,
  plainHeaders,
  pythonOllama,
  pythonOpenAI,
  sillyTavernHeaders,
  vsCodeServers,
} from './snippets';

export interface Field {
  label: string;
  value: string;
}

/** How one kind of client is set up: fields to fill in, or code to run. */
export interface Setup {
  id: string;
  name: string;
  Icon: IconType;
  kinds: ClientKind[];
  perhaps?: Perhaps;
  where: string;
  fields?: (place: Place) => Field[];
  code?: { language: string; of: (place: Place) => string; install?: string };
  /** Code for each of several clients, below its name. */
  choices?: { name: string; language: string; of: (place: Place) => string }[];
  notes?: (place: Place) => string[];
}

/** The address that is shown means another machine there, if it is this machine's own. */
function inContainer({ url }: Place): string[] {
  const there = new URL(url);
  if (!['localhost', '127.0.0.1', '[::1]'].includes(there.hostname)) return [];
  const here = there.hostname;
  there.hostname = 'host.docker.internal';
  return [
    `In a container, ${here} means the container itself. Use the address at which it reaches this machine, often ` +
      `${there.href.replace(/\/$/, '')}. Mnemoir must then listen on an address the container can reach, and needs a key.`,
  ];
}

export const setups: Setup[] = [
  {
    id: 'open-webui',
    name: 'Open WebUI',
    Icon: TbMessageChatbot,
    kinds: ['open-webui'],
    where: 'Admin settings, Connections: add an OpenAI API connection. The headers go under Advanced.',
    fields: place => [
      { label: 'URL', value: `${place.url}/v1` },
      { label: 'Key', value: keyOf(place) },
      { label: 'Headers', value: openWebUiHeaders(place) },
    ],
    notes: place => [
      'To keep each chat as a conversation, set ENABLE_FORWARD_USER_INFO_HEADERS=true in its environment.',
      ...inContainer(place),
    ],
  },
  {
    id: 'sillytavern',
    name: 'SillyTavern',
    Icon: TbMoodSmile,
    kinds: ['sillytavern'],
    perhaps: {
      kind: 'node-fetch',
      because:
        'It identifies itself as node-fetch, as SillyTavern and other programs do. With the header  ' +
        'X-Mnemoir-Client below, it is recognised reliably.',
    },
    where: 'API Connections. The headers go under Additional Parameters, Include Request Headers.',
    fields: place => [
      { label: 'API', value: 'Chat Completion' },
      { label: 'Chat Completion Source', value: 'Custom (OpenAI-compatible)' },
      { label: 'Custom Endpoint (Base URL)', value: `${place.url}/v1` },
      { label: 'Custom API Key', value: place.needsKey ? keyOf(place) : '' },
      { label: 'Model', value: place.model },
      { label: 'Include Request Headers', value: sillyTavernHeaders(place) },
    ],
    notes: () => [
      'Text Completion does not send these headers, so calls show up as node-fetch.',
      'SillyTavern sends no chat ID: set memory.enabled to true to keep its chats as conversations.',
    ],
  },
  {
    id: 'python',
    name: 'Python, openai',
    Icon: TbBrandPython,
    kinds: ['openai-python'],
    where: 'Programs that use the openai package, or libraries built on it, such as LangChain.',
    code: { language: 'python', of: pythonOpenAI, install: 'pip install openai' },
  },
  {
    id: 'python-ollama',
    name: 'Python, ollama',
    Icon: TbBrandPython,
    kinds: ['ollama-python'],
    where: 'Programs that use the ollama package.',
    code: { language: 'python', of: pythonOllama, install: 'pip install ollama' },
  },
  {
    id: 'javascript',
    name: 'JavaScript, openai',
    Icon: TbBrandJavascript,
    kinds: ['openai-node'],
    where: 'Programs that use the openai package. Save this as chat.mjs and run it with node.',
    code: { language: 'javascript', of: javascript, install: 'npm install openai' },
  },
  {
    id: 'curl',
    name: 'curl',
    Icon: TbTerminal2,
    kinds: ['curl'],
    where: 'In a terminal.',
    code: { language: 'sh', of: curl },
  },
  {
    id: 'mcp',
    name: 'MCP',
    Icon: TbTools,
    kinds: [
      'mcp',
      'claude-code',
      'claude',
      'codex',
      'cursor',
      'vs-code',
      'chatgpt',
      'n8n',
      'librechat',
      'mcp-inspector',
    ],
    where:
      'For editors and agents that support the Model Context Protocol. They call the server at this address; it needs ' +
      "the extra mcp: pip install 'mnemoir[mcp]'.",
    fields: agentFields,
    choices: [
      { name: 'Claude Code, in a terminal', language: 'sh', of: claudeCode },
      { name: 'Codex, in ~/.codex/config.toml', language: 'toml', of: codexConfig },
      { name: 'Cursor, in ~/.cursor/mcp.json, and others', language: 'json', of: mcpServersByAddress },
      { name: 'VS Code, in .vscode/mcp.json', language: 'json', of: vsCodeServers },
      { name: 'LibreChat, in librechat.yaml', language: 'yaml', of: libreChatServers },
      { name: 'Agents that only start programs', language: 'json', of: mcpServers },
    ],
    notes: place => [
      'n8n: a node MCP Client Tool takes the fields above.',
      'ChatGPT and claude.ai call from their own machines and send no key: they need a public https address at a proxy that adds it.',
      'Tools search, list, add and delete memories, and search conversations.',
      ...(place.needsKey ? ['Codex takes the key from the variable MNEMOIR_API_KEY.'] : []),
      ...inContainer(place),
    ],
  },
  {
    id: 'other',
    name: 'Other',
    Icon: TbApi,
    kinds: ['other', 'node-fetch', 'ollama-js', 'mnemoir'],
    where: 'Any app that speaks the OpenAI or Ollama protocol.',
    fields: place => [
      { label: 'Base URL, OpenAI', value: `${place.url}/v1` },
      { label: 'Address, Ollama', value: place.url },
      { label: 'API key', value: keyOf(place) },
      { label: 'Model', value: place.model },
      { label: 'Headers', value: plainHeaders(place) },
    ],
    notes: () => [
      'If the app cannot send headers, add ?memoryEnabled=true to the address, or "memoryEnabled": true to the body.',
    ],
  },
];

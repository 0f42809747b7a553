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
  curl,
  javascript,
  keyOf,
  mcpServers,
  openWebUiHeaders,
  type Place,
  plainHeaders,
  pythonOllama,
  pythonOpenAI,
  sillyTavernHeaders,
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
  notes?: (place: Place) => string[];
}

/** The address that is shown means another machine there, if it is this machine's own. */
function inContainer({ url }: Place): string[] {
  const there = new URL(url);
  if (!['localhost', '127.0.0.1', '[::1]'].includes(there.hostname)) return [];
  const here = there.hostname;
  there.hostname = 'host.docker.internal';
  return [
    `In a container, ${here} is the container itself: use the address by which it reaches this machine, often ` +
      `${there.href.replace(/\/$/, '')}. Mnemoir must then listen on an address that the container reaches, and needs a key.`,
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
        'It calls itself node-fetch, as SillyTavern does by itself and other programs do, too. With the header ' +
        'X-Mnemoir-Client below, SillyTavern is told for sure.',
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
      'With Text Completion these headers are not sent: it is seen as a program that calls itself node-fetch then.',
      'SillyTavern names no chat: set memory.enabled to true to keep its chats as conversations.',
    ],
  },
  {
    id: 'python',
    name: 'Python, openai',
    Icon: TbBrandPython,
    kinds: ['openai-python'],
    where: 'Any program that uses the package openai, and what is built on it, such as LangChain.',
    code: { language: 'python', of: pythonOpenAI, install: 'pip install openai' },
  },
  {
    id: 'python-ollama',
    name: 'Python, ollama',
    Icon: TbBrandPython,
    kinds: ['ollama-python'],
    where: 'Any program that uses the package ollama.',
    code: { language: 'python', of: pythonOllama, install: 'pip install ollama' },
  },
  {
    id: 'javascript',
    name: 'JavaScript, openai',
    Icon: TbBrandJavascript,
    kinds: ['openai-node'],
    where: 'Any program that uses the package openai. Save it as chat.mjs and run it with node.',
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
    kinds: ['mcp'],
    where: 'Agents that speak the Model Context Protocol, such as editors: put this into their file of MCP servers.',
    code: { language: 'json', of: mcpServers, install: "pip install 'mnemoir[mcp]'" },
    notes: () => [
      'If mnemoir is not on the path of the agent, write the whole path of the command.',
      'Tools search, list, add and delete memories, and search conversations. A call is seen here when the agent uses one of them; to start it is no call.',
    ],
  },
  {
    id: 'other',
    name: 'Any other',
    Icon: TbApi,
    kinds: ['other', 'node-fetch', 'ollama-js', 'mnemoir'],
    where: 'Any app that speaks the protocol of OpenAI or Ollama.',
    fields: place => [
      { label: 'Base URL, OpenAI', value: `${place.url}/v1` },
      { label: 'Address, Ollama', value: place.url },
      { label: 'API key', value: keyOf(place) },
      { label: 'Model', value: place.model },
      { label: 'Headers', value: plainHeaders(place) },
    ],
    notes: () => [
      'An app that cannot send headers may add ?memoryEnabled=true to the address, or "memoryEnabled": true to the body.',
    ],
  },
];

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useMay } from './access';
import { useChange } from './change';

export type Status = components['schemas']['Status'];
export type Endpoint = Status['endpoints'][number];
export type Health = components['schemas']['Remark']['state'];
export type LatencySeries = components['schemas']['LatencySeries'];
export type LatencyStep = components['schemas']['LatencyStep'];
export type Span = LatencySeries['span'];
export type GrowthDay = components['schemas']['Day'];
export type ClientSeen = components['schemas']['ClientSeen'];
export type ClientKind = ClientSeen['kind'];

/** What each kind of client is called. */
export const CLIENT_NAMES: Record<ClientKind, string> = {
  'open-webui': 'Open WebUI',
  sillytavern: 'SillyTavern',
  'openai-python': 'Python, openai',
  'openai-node': 'JavaScript, openai',
  'ollama-python': 'Python, ollama',
  'ollama-js': 'JavaScript, ollama',
  curl: 'curl',
  'node-fetch': 'Calls itself node-fetch',
  mcp: 'Agent, by MCP',
  'claude-code': 'Claude Code',
  claude: 'Claude',
  codex: 'Codex',
  cursor: 'Cursor',
  'vs-code': 'VS Code',
  chatgpt: 'ChatGPT',
  n8n: 'n8n',
  librechat: 'LibreChat',
  'mcp-inspector': 'MCP Inspector',
  'mnemoir-ui': 'This web UI',
  'mnemoir-chat': 'mnemoir chat, in a terminal',
  mnemoir: 'Another Mnemoir',
  other: 'Another client',
};

const STATUS = ['status'];
const FAILED_JOBS = ['failed jobs'];
const STATUS_MS = 3_000;
const LATENCIES_MS = 5_000;
const GROWTH_MS = 60_000; // the server counts no more often
const CLIENTS_MS = 2_000;

/** How the server is; asked again while the page is open. */
export function useStatus() {
  return useQuery({
    queryKey: STATUS,
    queryFn: () => unwrap(client.GET('/api/status')),
    enabled: useMay().server,
    refetchInterval: STATUS_MS,
    notifyOnChangeProps: 'all', // times go on while nothing changes
  });
}

/** Has the server ask the models' servers now. */
export function useCheck() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(client.POST('/api/status/check')),
    onSuccess: status => queries.setQueryData(STATUS, status),
  });
}

/** The background jobs that were given up in the last week, newest first. */
export function useFailedJobs() {
  return useQuery({
    queryKey: FAILED_JOBS,
    queryFn: async () => (await unwrap(client.GET('/api/status/jobs'))).results,
    refetchInterval: STATUS_MS,
  });
}

/** Has the server try such a job again. */
export function useRetryJob() {
  return useChange(
    (id: string) => unwrap(client.POST('/api/status/jobs/{job_id}/retry', { params: { path: { job_id: id } } })),
    [FAILED_JOBS, STATUS],
  );
}

/** How long recalls and writes took: by the minute for an hour, by quarters of an hour for a day. */
export function useLatencies(span: Span) {
  return useQuery({
    queryKey: [...STATUS, 'latencies', span],
    queryFn: () => unwrap(client.GET('/api/status/latencies', { params: { query: { span } } })),
    refetchInterval: LATENCIES_MS,
    placeholderData: keepPreviousData,
  });
}

/** What was added on each of the last 30 days, oldest first; asked again soon while the server still counts. */
export function useGrowth() {
  return useQuery({
    queryKey: [...STATUS, 'growth'],
    queryFn: async () => (await unwrap(client.GET('/api/status/growth'))).days,
    refetchInterval: query => (query.state.data?.some(isBeingCounted) ? STATUS_MS : GROWTH_MS),
  });
}

const isBeingCounted = (day: GrowthDay) => Object.values(day).includes(null);

/** Which kinds of clients have chatted since the server was started; asked again while the page is open. */
export function useClients() {
  return useQuery({
    queryKey: ['clients'],
    queryFn: () => unwrap(client.GET('/api/clients')),
    enabled: useMay().server,
    refetchInterval: CLIENTS_MS,
    notifyOnChangeProps: 'all', // "3 minutes ago" goes on while nobody calls
  });
}

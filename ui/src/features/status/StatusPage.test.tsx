import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { Endpoint, GrowthDay, LatencySeries, Status } from '@/shared/data/status';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { StatusPage } from './StatusPage';

const NOW = new Date().toISOString();
const WELL = { state: 'ok', problem: '', to_do: '', checked_at: NOW } as const;
const NO_TIMES = { count: 0, p50_ms: null, p95_ms: null };

const STATUS: Status = {
  version: '1.2.3',
  started_at: NOW,
  up_s: 93_600,
  model: {
    name: 'far-model',
    provider: 'openai-chat',
    url: 'http://models.example/v1',
    connected: WELL,
    answered_at: NOW,
    failed_at: null,
    error: null,
  },
  endpoints: [],
  embedder: { name: 'MiniLM', provider: 'builtin', url: null, dimension: 384, connected: WELL },
  room: {
    backend: 'sqlite',
    data_dir: '/data',
    writable: true,
    free_bytes: 5 * 1024 ** 3,
    disk_bytes: 10 * 1024 ** 3,
    shares: [{ name: 'memories', size_bytes: 2048 }],
    measured_at: NOW,
  },
  storage_problem: '',
  degraded: [],
  counts: {
    projects: 1,
    users: 2,
    memories: 1234,
    conversations: null,
    messages: null,
    embeddable: null,
    embedded: null,
    runs: 7,
  },
  latency: {
    recall: { hour: { count: 3, p50_ms: 8.3, p95_ms: 28 }, day: NO_TIMES },
    write: { hour: NO_TIMES, day: NO_TIMES },
  },
  work: {
    jobs: [{ kind: 'remember', waiting: 4, running: 1, failed: 2 }],
    memory_vectors: { done: 30, of: 120 },
    message_vectors: null,
    pruning: { days: null, last_at: null, next_at: null },
  },
  choices: {
    default_project: 'default',
    default_user: 'user',
    decay_days: null,
    search_limit: 5,
    keeps_named_chats: true,
    keeps_all_chats: false,
    history: 'client',
    strategy: 'simple',
    max_history_tokens: 4096,
    keeps_runs: true,
    names_chats: true,
    config_dir: null,
    workflow_users: [],
  },
  remarks: [],
};

const SERIES: LatencySeries = {
  span: 'hour',
  step_minutes: 1,
  recall: [
    { at: '2026-01-01T10:00:00.000Z', ...NO_TIMES },
    { at: '2026-01-01T10:01:00.000Z', count: 3, p50_ms: 8.3, p95_ms: 28 },
  ],
  write: [{ at: '2026-01-01T10:00:00.000Z', ...NO_TIMES }],
};

const NOTHING = { memories: 0, messages: 0, input_tokens: 0, output_tokens: 0 };
const DAYS: GrowthDay[] = [
  { ...NOTHING, day: '2026-03-03', memories: 2, input_tokens: 1200 },
  { ...NOTHING, day: '2026-03-04', memories: 1, input_tokens: 300, output_tokens: 45 },
];

function answers(status: Status, days: GrowthDay[] = DAYS) {
  server.use(
    http.get('*/api/status/growth', () => HttpResponse.json({ days })),
    http.get('*/api/status', () => HttpResponse.json(status)),
    http.get('*/api/status/jobs', () => HttpResponse.json({ results: [] })),
    http.get('*/api/status/latencies', () => HttpResponse.json(SERIES)),
  );
}

test('a server that is well shows its parts, its counts and its settings', async () => {
  answers(STATUS);
  renderAt('/status', <StatusPage />);
  const model = await screen.findByRole('region', { name: 'Model' });
  expect(within(model).getByText('OK')).toBeVisible();
  expect(within(model).getByText('http://models.example/v1')).toBeVisible();
  expect(screen.getByRole('region', { name: 'Server' })).toHaveTextContent('1 day, 2 hours');
  expect(screen.getByText('1,234').closest('div')).toHaveTextContent('Memories');
  expect(screen.getByRole('link', { name: 'Memories' })).toHaveAttribute('href', '/memories');
  expect(screen.getByRole('region', { name: 'Disk usage' })).toHaveTextContent('memories2 KiB');
  expect(screen.getByRole('region', { name: 'Settings in use' })).toHaveTextContent('those with a session ID');
});

test('with a config tree it says why chats have no titles', async () => {
  answers({ ...STATUS, choices: { ...STATUS.choices, config_dir: '/tree', names_chats: false } });
  renderAt('/status', <StatusPage />);
  expect(await screen.findByText('their first words: server.title_endpoint is not set')).toBeVisible();
});

test('what is still being counted is no zero', async () => {
  answers(STATUS);
  renderAt('/status', <StatusPage />);
  expect((await screen.findByText('Messages')).closest('div')).toHaveTextContent('…');
});

test('a remark tells what is wrong and the next step', async () => {
  const connected = {
    state: 'fail',
    problem: 'refused the key',
    to_do: 'Check OPENAI_API_KEY.',
    checked_at: NOW,
  } as const;
  const found = 'The model far-model: refused the key.';
  answers({
    ...STATUS,
    model: { ...STATUS.model, connected },
    remarks: [{ about: 'model', state: 'fail', found, to_do: connected.to_do }],
  });
  renderAt('/status', <StatusPage />);
  expect(await screen.findByRole('note')).toHaveTextContent(`${found}Check OPENAI_API_KEY.`);
  expect(screen.getByRole('region', { name: 'Model' })).toHaveTextContent('Not working');
});

test('background work shows how far it is', async () => {
  answers(STATUS);
  renderAt('/status', <StatusPage />);
  const bar = await screen.findByRole('progressbar', { name: 'Vectors of memories' });
  expect(bar).toHaveAttribute('aria-valuenow', '25');
  expect(screen.getByRole('row', { name: 'Learning from chats 4 1 2' })).toBeVisible();
});

test('jobs that were given up are listed with their errors, and tried again', async () => {
  const job = { kind: 'remember', attempts: 3, created_at: NOW, failed_at: NOW };
  let left = [
    { ...job, id: 'evt_1', error: 'The model is away.' },
    { ...job, id: 'evt_2', attempts: 1, error: null },
  ];
  const asked: string[] = [];
  answers(STATUS);
  server.use(
    http.get('*/api/status/jobs', () => HttpResponse.json({ results: left })),
    http.post('*/api/status/jobs/:id/retry', ({ params }) => {
      asked.push(String(params.id));
      left = left.filter(one => one.id !== params.id);
      return HttpResponse.json({ id: params.id }, { status: 202 });
    }),
  );
  renderAt('/status', <StatusPage />);
  const list = await screen.findByRole('list', { name: 'Given up' });
  const [first = list, second] = within(list).getAllByRole('listitem');
  expect(first).toHaveTextContent(/^Learning from chats, given up .* after 3 tries.*The model is away\./);
  expect(second).toHaveTextContent('after 1 try');
  await userEvent.click(within(first).getByRole('button', { name: 'Retry' }));
  await waitFor(() => expect(within(list).getAllByRole('listitem')).toHaveLength(1));
  expect(asked).toEqual(['evt_1']);
});

test('the times are told in a table as well', async () => {
  answers(STATUS);
  renderAt('/status?as=table', <StatusPage />);
  const table = await screen.findByRole('table', { name: 'Recall, by time' });
  expect(within(table).getAllByRole('row')).toHaveLength(2);
  expect(within(table).getByRole('row', { name: /8.3 ms 28 ms 3/ })).toBeVisible();
});

test('what was added a day is told in sums and in a table, also beside the chart', async () => {
  answers(STATUS);
  renderAt('/status', <StatusPage />);
  const memories = await screen.findByRole('region', { name: 'Memories a day' });
  expect(await within(memories).findByRole('group', { name: 'Memories a day, in all' })).toHaveTextContent(
    '2 days:3',
  );
  const rows = within(await screen.findByRole('table', { name: 'Model tokens a day' })).getAllByRole('row');
  expect(rows.map(row => row.textContent)).toEqual(['DayInOut', 'Mar 430045', 'Mar 31,2000']);
  expect(screen.getByRole('group', { name: 'Model tokens a day, in all' })).toHaveTextContent('1,500 in45 out');
  expect(screen.getByRole('region', { name: 'Messages a day' })).toHaveTextContent('Nothing in the last 2 days.');
});

test('days that are still being counted are no zeros', async () => {
  answers(
    STATUS,
    DAYS.map(day => ({ ...day, messages: null })),
  );
  renderAt('/status?as=table', <StatusPage />);
  expect(await screen.findByRole('region', { name: 'Memories a day, table' })).toBeVisible();
  const messages = screen.getByRole('region', { name: 'Messages a day' });
  expect(within(messages).getByRole('status', { name: 'Counting' })).toBeVisible();
});

test('days that cannot be counted say why, and the rest of the page stays', async () => {
  answers(STATUS);
  server.use(http.get('*/api/status/growth', () => HttpResponse.json({ error: 'It is locked.' }, { status: 503 })));
  renderAt('/status', <StatusPage />);
  expect(await screen.findByText('It is locked.')).toBeVisible();
  expect(screen.getByRole('region', { name: 'Model' })).toBeVisible();
});

test('a check asks the models now, and shows what it found', async () => {
  answers({ ...STATUS, model: { ...STATUS.model, connected: { ...WELL, state: null, checked_at: null } } });
  renderAt('/status', <StatusPage />);
  const model = await screen.findByRole('region', { name: 'Model' });
  expect(model).toHaveTextContent('Not checked yet');
  answers(STATUS);
  server.use(http.post('*/api/status/check', () => HttpResponse.json(STATUS)));
  await userEvent.click(screen.getByRole('button', { name: 'Check models now' }));
  expect(await within(model).findByText('OK')).toBeVisible();
});

test('a status that cannot be loaded says why', async () => {
  server.use(http.get('*/api/status', () => HttpResponse.json({ error: 'It is broken.' }, { status: 500 })));
  renderAt('/status', <StatusPage />);
  expect(await screen.findByRole('alert')).toHaveTextContent('It is broken.');
});

const ENDPOINT: Endpoint = {
  name: 'Main',
  path: 'Endpoints/main & co/Main.json',
  named_in: ['Workflows/Ann/Chat.json', 'Workflows/Ann/Other.json', 'Workflows/Ann/Third.json'],
  kind: 'ollama-chat',
  address: 'http://models.example:11434',
  model: 'far-model',
  state: 'ok',
  problem: '',
  to_do: '',
  told_at: NOW,
  answered_at: NOW,
  failed_at: null,
};

test('an endpoint shows what it is, and one with a problem what to do and where it is named', async () => {
  const problem = 'models.example:11434 could not be reached.';
  const to_do = 'Start its server.';
  const gone: Endpoint = { ...ENDPOINT, name: 'Gone', state: 'fail', problem, to_do, answered_at: null };
  answers({ ...STATUS, endpoints: [gone, ENDPOINT] });
  renderAt('/status', <StatusPage />);
  const part = await screen.findByRole('region', { name: 'Endpoints' });
  expect(part).toHaveTextContent('1 with problems, 1 OK');
  const [first, second] = within(part).getAllByRole('listitem');
  expect(first).toHaveTextContent(
    'GoneNot workingfar-modelOllama, chathttp://models.example:11434not called yet' +
      `${problem}${to_do} Named in Workflows/Ann/Chat.json and 2 other files.`,
  );
  expect(second).toHaveTextContent('MainOK');
  expect(within(part).getByRole('link', { name: 'Main' })).toHaveAttribute(
    'href',
    '/workflows?file=Endpoints%2Fmain%20%26%20co%2FMain.json',
  );
});

test('of many endpoints some are shown, and the others when they are asked for', async () => {
  const many = Array.from({ length: 52 }, (_, at) => ({
    ...ENDPOINT,
    name: `E${at}`,
    path: `Endpoints/E${at}.json`,
  }));
  answers({ ...STATUS, endpoints: many });
  const { router } = renderAt('/status', <StatusPage />);
  const list = await screen.findByRole('list', { name: 'Endpoints' });
  expect(within(list).getAllByRole('listitem')).toHaveLength(8);
  await userEvent.click(screen.getByRole('button', { name: 'Show 44 more' }));
  expect(within(list).getAllByRole('listitem')).toHaveLength(52);
  expect(router.state.location.search).toBe('?endpoints=52');
  await userEvent.click(screen.getByRole('button', { name: 'Show only the first 8' }));
  expect(within(list).getAllByRole('listitem')).toHaveLength(8);
});

test('without a config tree there is no part for endpoints', async () => {
  answers(STATUS);
  renderAt('/status', <StatusPage />);
  await screen.findByRole('region', { name: 'Model' });
  expect(screen.queryByRole('region', { name: 'Endpoints' })).toBeNull();
});

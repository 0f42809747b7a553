import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { ModelOverview, ModelTest } from '@/shared/data/languageModel';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ConnectPage } from '../ConnectPage';

const NOTHING: ModelOverview = {
  setup: {
    in_use: { provider: 'offline', model: 'mnemoir-offline', url: null, has_key: false },
    saved: null,
    fixed: [],
    ollama_url: 'http://127.0.0.1:11434',
    serves_tree: false,
  },
  locked: '',
};
const SAVED = {
  provider: 'openai-chat' as const,
  model: 'qwen3',
  url: 'http://127.0.0.1:8080/v1',
  has_key: true,
  in_force: true,
};
const CONNECTED: ModelOverview = {
  ...NOTHING,
  setup: { ...NOTHING.setup, in_use: { ...SAVED }, saved: SAVED },
};
const BUILT_IN = { provider: 'builtin', model: 'all-MiniLM-L6-v2-int8', url: null, has_key: false };
const EMBEDDING = {
  setup: { in_use: BUILT_IN, after_restart: BUILT_IN, restart_needed: false, saved: null, fixed: [] },
  locked: '',
};
const TESTED: ModelTest = {
  ok: true,
  provider: 'openai-chat',
  model: 'qwen3',
  url: SAVED.url,
  latency_ms: 412.3,
  status: null,
  problem: '',
  to_do: '',
};

/** Plays the server; what it was sent, by method and path. */
function played(
  overview: ModelOverview,
  { found = [] as string[], tested = TESTED, listed = ['qwen3', 'gemma'] } = {},
) {
  const sent: Record<string, unknown> = {};
  let now = overview;
  const note = async (name: string, request: Request) => {
    sent[name] = await request.json();
  };
  server.use(
    http.get('*/api/model', () => HttpResponse.json(now)),
    http.get('*/api/model/found', () =>
      HttpResponse.json({ looked: found.length > 0, url: 'http://127.0.0.1:11434', models: found }),
    ),
    http.put('*/api/model', async ({ request }) => {
      await note('save', request);
      now = CONNECTED;
      return HttpResponse.json(now);
    }),
    http.delete('*/api/model', ({ request }) => {
      sent.forget = request.headers.get('Content-Type');
      now = NOTHING;
      return HttpResponse.json(now);
    }),
    http.post('*/api/model/test', async ({ request }) => {
      await note('test', request);
      return HttpResponse.json(tested);
    }),
    http.post('*/api/model/list', async ({ request }) => {
      await note('list', request);
      return HttpResponse.json({ models: listed, problem: '', to_do: '' });
    }),
    http.get('*/api/model/embedding', () => HttpResponse.json(EMBEDDING)),
    http.get('*/api/status', () => HttpResponse.json({ error: 'not played' }, { status: 500 })),
  );
  return sent;
}

function open() {
  renderAt('/connect?part=model', <ConnectPage />);
}

test('a model is listed, tested and saved, and then it is the one in use', async () => {
  const sent = played(NOTHING);
  open();
  await userEvent.click(await screen.findByRole('radio', { name: 'llama.cpp' }));
  expect(screen.getByRole('textbox', { name: 'Address' })).toHaveValue('http://127.0.0.1:8080/v1');
  await userEvent.type(screen.getByLabelText('API key'), 'sk-typed');
  await userEvent.click(screen.getByRole('button', { name: 'List models' }));
  expect(await screen.findByText('2 models to choose from.')).toBeVisible();
  expect(screen.getByRole('combobox', { name: 'Model' })).toHaveValue('qwen3');
  await userEvent.click(screen.getByRole('combobox', { name: 'Model' }));
  expect((await screen.findAllByRole('option')).map(option => option.textContent)).toEqual(['qwen3', 'gemma']);
  await userEvent.click(screen.getByRole('button', { name: 'Test' }));
  expect(await screen.findByText(/answered in 412 ms/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByRole('heading', { name: 'qwen3' })).toBeVisible();
  const wanted = { provider: 'openai-chat', url: 'http://127.0.0.1:8080/v1', model: 'qwen3', api_key: 'sk-typed' };
  expect(sent).toEqual({ list: { ...wanted, model: undefined }, test: wanted, save: wanted });
});

test('a test that fails says why and what to do', async () => {
  const problem = {
    ok: false,
    status: 401,
    problem: 'it refused the key (401)',
    to_do: 'Enter a key for this address.',
  };
  played(CONNECTED, { tested: { ...TESTED, ...problem } });
  open();
  await userEvent.click(await screen.findByRole('button', { name: 'Test' }));
  expect(await screen.findByText('It failed: it refused the key (401). Enter a key for this address.')).toBeVisible();
});

test('a stored key is kept for its address and said to go with it', async () => {
  const sent = played(CONNECTED);
  open();
  expect(await screen.findByText(/A key is stored for this address/)).toBeVisible();
  const address = screen.getByRole('textbox', { name: 'Address' });
  await userEvent.clear(address);
  await userEvent.type(address, 'http://127.0.0.1:9999/v1');
  expect(screen.getByText(/The stored key belongs to http:\/\/127.0.0.1:8080 and is removed/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  const wanted = { provider: 'openai-chat', url: 'http://127.0.0.1:9999/v1', model: 'qwen3' };
  await waitFor(() => expect(sent.save).toEqual(wanted));
});

test('an Ollama that was started later is taken by one click', async () => {
  const sent = played(NOTHING, { found: ['llama3.2:latest'] });
  open();
  const notice = await screen.findByRole('alert');
  expect(notice).toHaveTextContent('It runs at http://127.0.0.1:11434 and has one model.');
  await userEvent.click(within(notice).getByRole('button', { name: 'Use llama3.2:latest' }));
  expect(await screen.findByRole('heading', { name: 'qwen3' })).toBeVisible();
  expect(sent.save).toEqual({ provider: 'ollama', url: 'http://127.0.0.1:11434', model: 'llama3.2:latest' });
});

test('what is set elsewhere is named with its place and cannot be changed', async () => {
  const fixed = [{ key: 'llm.model', value: 'their-model', set_by: 'environment variable MEMORY_LLM_MODEL' }];
  played({ ...NOTHING, setup: { ...NOTHING.setup, fixed } });
  open();
  expect(await screen.findByText('Set outside this page')).toBeVisible();
  const model = screen.getByRole('combobox', { name: 'Model' });
  expect(model).toHaveValue('their-model');
  expect(model).toHaveAttribute('readonly');
  expect(screen.getByText('Set by environment variable MEMORY_LLM_MODEL')).toBeVisible();
});

test('a key of the environment is named where it is sent, and not taken for other addresses', async () => {
  const fixed = [{ key: 'llm.api_key', value: null, set_by: 'environment variable OPENAI_API_KEY' }];
  played({ ...NOTHING, setup: { ...NOTHING.setup, fixed } });
  open();
  await userEvent.click(await screen.findByRole('radio', { name: 'OpenAI' }));
  expect(screen.getByText('Set by environment variable OPENAI_API_KEY')).toBeVisible();
  expect(screen.getByLabelText('API key')).toHaveAttribute('readonly');
  await userEvent.click(screen.getByRole('radio', { name: 'vLLM' }));
  expect(screen.getByLabelText('API key')).not.toHaveAttribute('readonly');
});

test('who may not change the model sees it and why', async () => {
  played({ ...CONNECTED, locked: 'To change the model takes the admin key (ADMIN_API_KEY).' });
  open();
  expect(await screen.findByText(/takes the admin key/)).toBeVisible();
  expect(screen.getByRole('heading', { name: 'qwen3' })).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Save' })).toBeNull();
});

test('a refusal of the server stands at the button', async () => {
  played(NOTHING);
  const refusal = { error: 'The address leads to a link-local address.', code: 'address_refused' };
  server.use(http.put('*/api/model', () => HttpResponse.json(refusal, { status: 400 })));
  open();
  await userEvent.click(await screen.findByRole('radio', { name: 'OpenAI' }));
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByRole('alert')).toHaveTextContent('leads to a link-local address');
});

test('a model is disconnected after a question', async () => {
  const sent = played(CONNECTED);
  open();
  await userEvent.click(await screen.findByRole('button', { name: 'Disconnect model' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Disconnect' }));
  expect(await screen.findByText('No language model is connected')).toBeVisible();
  expect(sent.forget).toBe('application/json');
});

test('a server of workflows says what the model is for, and where the others are', async () => {
  played({ ...NOTHING, setup: { ...NOTHING.setup, serves_tree: true } });
  server.use(
    http.get('*/api/status', () =>
      HttpResponse.json({
        endpoints: [{ path: 'Endpoints/Local.json' }, { path: null }],
      }),
    ),
  );
  open();
  expect(await screen.findByText(/Endpoints\/Local.json/)).toBeVisible();
});

import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { EmbeddingOverview, EmbeddingTest } from '@/shared/data/embeddingModel';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { EmbeddingModel } from './EmbeddingModel';

const BUILT_IN = { provider: 'builtin', model: 'all-MiniLM-L6-v2-int8', url: null, has_key: false };
const FAR = { provider: 'openai' as const, model: 'far-vectors', url: 'http://127.0.0.1:8080/v1', has_key: true };
const BEFORE: EmbeddingOverview = {
  setup: {
    in_use: BUILT_IN,
    after_restart: BUILT_IN,
    restart_needed: false,
    saved: null,
    fixed: [],
    openai_url: 'https://api.openai.com/v1',
    ollama_url: 'http://127.0.0.1:11434',
  },
  locked: '',
};
const AFTER: EmbeddingOverview = {
  ...BEFORE,
  setup: { ...BEFORE.setup, after_restart: FAR, restart_needed: true, saved: { ...FAR, in_force: true } },
};
const TESTED: EmbeddingTest = {
  ok: true,
  model: 'openai:far-vectors',
  url: FAR.url,
  dimension: 768,
  latency_ms: 41.7,
  status: null,
  problem: '',
  to_do: '',
};

/** Plays the server; what it was sent. */
function played(overview: EmbeddingOverview, tested = TESTED) {
  const sent: Record<string, unknown> = {};
  let now = overview;
  server.use(
    http.get('*/api/model/embedding', () => HttpResponse.json(now)),
    http.put('*/api/model/embedding', async ({ request }) => {
      sent.save = await request.json();
      now = AFTER;
      return HttpResponse.json(now);
    }),
    http.delete('*/api/model/embedding', () => {
      sent.forget = true;
      now = BEFORE;
      return HttpResponse.json(now);
    }),
    http.post('*/api/model/embedding/test', async ({ request }) => {
      sent.test = await request.json();
      return HttpResponse.json(tested);
    }),
    http.post('*/api/model/embedding/list', async ({ request }) => {
      sent.list = await request.json();
      return HttpResponse.json({ models: ['far-vectors'], problem: '', to_do: '' });
    }),
    http.get('*/api/status', () => HttpResponse.json({ counts: { memories: 12, embeddable: 1 } })),
  );
  return sent;
}

/** The open form of a rendered page. */
async function opened() {
  renderAt('/', <EmbeddingModel />);
  await userEvent.click(await screen.findByRole('button', { name: 'Change embedding model' }));
  return within(screen.getByRole('form', { name: 'Embedding model' }));
}

test('a model is listed, tested and, with its cost confirmed, saved for the next start', async () => {
  const sent = played(BEFORE);
  const form = await opened();
  await userEvent.click(form.getByRole('radio', { name: 'OpenAI or compatible' }));
  await userEvent.clear(form.getByRole('textbox', { name: 'Address' }));
  await userEvent.type(form.getByRole('textbox', { name: 'Address' }), FAR.url);
  await userEvent.type(form.getByLabelText('API key'), 'sk-typed');
  await userEvent.clear(form.getByRole('combobox', { name: 'Model' }));
  await userEvent.click(form.getByRole('button', { name: 'List models' }));
  expect(await form.findByText('1 model to choose from.')).toBeVisible();
  await userEvent.type(form.getByRole('combobox', { name: 'Model' }), 'far-vectors');
  await userEvent.click(form.getByRole('button', { name: 'Test' }));
  expect(await form.findByText('768 dimensions, in 42 ms.')).toBeVisible();
  expect(await form.findByText(/12 memories and 1 message are embedded again/)).toBeVisible();
  await userEvent.click(form.getByRole('button', { name: 'Save' }));
  const question = await screen.findByRole('dialog', { name: 'Change the embedding model?' });
  expect(question).toHaveTextContent('12 memories and 1 message are embedded again.');
  await userEvent.click(within(question).getByRole('button', { name: 'Save' }));
  expect(await screen.findByText('Restart Mnemoir to switch')).toBeVisible();
  const wanted = { provider: 'openai', url: FAR.url, model: 'far-vectors', api_key: 'sk-typed' };
  expect(sent).toEqual({ list: { ...wanted, model: undefined }, test: wanted, save: wanted });
});

test('the built-in model is chosen again by forgetting the saved one', async () => {
  const sent = played(AFTER);
  const form = await opened();
  expect(form.getByText(/A key is stored for this address/)).toBeVisible();
  await userEvent.click(form.getByRole('radio', { name: 'Built in' }));
  await userEvent.click(form.getByRole('button', { name: 'Save' })); // the one in use: nothing is embedded again
  await waitFor(() => expect(sent.forget).toBe(true));
  await waitFor(() => expect(screen.queryByText('Restart Mnemoir to switch')).toBeNull());
});

test('a test that fails says why and what to do', async () => {
  played(AFTER, { ...TESTED, ok: false, dimension: null, problem: 'it cannot be reached', to_do: 'Start it.' });
  const form = await opened();
  await userEvent.click(form.getByRole('button', { name: 'Test' }));
  expect(await form.findByText('It failed: it cannot be reached. Start it.')).toBeVisible();
});

test('what is set elsewhere is named with its place and cannot be changed', async () => {
  const set_by = 'environment variable MNEMOIR_EMBEDDING__MODEL';
  played({ ...AFTER, setup: { ...AFTER.setup, fixed: [{ key: 'embedding.model', value: 'far-vectors', set_by }] } });
  const form = await opened();
  expect(form.getByRole('combobox', { name: 'Model' })).toHaveAttribute('readonly');
  expect(form.getByText(`Set by ${set_by}`)).toBeVisible();
});

test.each([
  ['the caller may not change models', { ...BEFORE, locked: 'This takes the admin key.' }],
  [
    'the settings name a provider that the page does not know',
    {
      ...BEFORE,
      setup: {
        ...BEFORE.setup,
        fixed: [{ key: 'embedding.provider', value: 'sentence-transformers', set_by: 'mnemoir.yaml' }],
      },
    },
  ],
])('the model is only shown where %s', async (_, overview) => {
  played(overview);
  renderAt('/', <EmbeddingModel />);
  expect(await screen.findByText('all-MiniLM-L6-v2-int8')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Change embedding model' })).toBeNull();
});

import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { TrialPanel } from './TrialPanel';
import { useTrial } from './useTrial';

const TREE = { root: '/tree', models: ['Ann'], users: [], files: [] };
const NODE = { number: 1, title: 'Note', type: 'SaveCustomFile', notes: ['Left out.'], error: null, children: [] };
const RUN = { status: 'finished', duration_ms: 5, workflows: [{ name: 'Chat', nodes: [NODE] }] };

function Panel({ typed, isChanged }: { typed?: string; isChanged: boolean }) {
  return (
    <TrialPanel tree={TREE} file="Workflows/Ann/Chat.json" typed={typed} isChanged={isChanged} trial={useTrial()} />
  );
}

function events(...all: object[]) {
  const body = all.map(each => `data: ${JSON.stringify(each)}\n\n`).join('');
  return new HttpResponse(body, { headers: { 'Content-Type': 'text/event-stream' } });
}

async function ask() {
  await userEvent.type(await screen.findByRole('textbox', { name: 'Message' }), 'Hello');
  await userEvent.click(screen.getByRole('button', { name: 'Run' }));
}

test('what is typed runs, and its run is shown though it is kept nowhere', async () => {
  let asked: unknown;
  server.use(
    http.post('*/api/workflows/try', async ({ request }) => {
      asked = await request.json();
      return events({ text: 'Hi ' }, { text: 'there.' }, { run: RUN });
    }),
  );
  renderAt('/', <Panel typed="[{}]" isChanged />);
  expect(await screen.findByText(/Runs your unsaved text/)).toBeVisible();
  await ask();
  expect(await screen.findByText('Hi there.')).toBeVisible();
  expect(await screen.findByText('Left out.')).toBeVisible();
  expect(screen.queryByRole('link', { name: 'Open run' })).not.toBeInTheDocument();
  expect(asked).toMatchObject({ path: 'Workflows/Ann/Chat.json', text: '[{}]', model: 'Ann' });
});

test('a run that fails says why, and what it did until then', async () => {
  const failed = { run: { ...RUN, status: 'failed' }, error: { code: 'x', message: 'The cable is cut.' } };
  server.use(http.post('*/api/workflows/try', () => events(failed)));
  renderAt('/', <Panel typed="[{}]" isChanged />);
  await ask();
  expect(await screen.findByText('The cable is cut.')).toBeVisible();
  expect(screen.getByText('Left out.')).toBeVisible();
});

test('a stream that breaks off is no answer', async () => {
  server.use(http.post('*/api/workflows/try', () => events({ text: 'Hi ' })));
  renderAt('/', <Panel typed="[{}]" isChanged />);
  await ask();
  expect(await screen.findByText(/was lost before the answer was complete/)).toBeVisible();
});

test('where what is typed cannot run, the saved files do, and it is said', async () => {
  renderAt('/', <Panel isChanged />);
  expect(await screen.findByText(/Runs the saved files, not what you typed/)).toBeVisible();
});

import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { RunWhole } from '@/shared/data/runs/run';
import type { RunListed } from '@/shared/data/runs/runs';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { RunsPage } from './RunsPage';
import { aNode, aRun, aWorkflow, listed } from '@/shared/testing/runs';

function serve(runs: RunListed[], run: RunWhole | null = null) {
  server.use(
    http.get('*/api/runs/live', () => new HttpResponse(null, { status: 503 })),
    http.get('*/api/runs', () => HttpResponse.json({ results: runs, next: null })),
    http.get('*/api/runs/:id', () => HttpResponse.json(run)),
  );
}

test('runs are listed with how they ended and what they took', async () => {
  const failing = { status: 'failed', error: 'The model is down.', user_id: 'mira', conversation: 'tea' } as const;
  serve([listed('r2', failing), listed('r1', { memories: 2 })]);
  renderAt('/runs', <RunsPage />);
  const [failed, fine] = await screen.findAllByRole('listitem');
  expect(failed).toHaveTextContent(/3 nodesThe model is down\./);
  expect(fine).toHaveTextContent(/Finished.*812 ms.*3 nodes.*2 memories/);
});

test('a run is named by its question, above its workflow, and its user where there are several', async () => {
  serve([listed('r2', { question: 'Is it late?' }), listed('r1', { workflow: '', user_id: 'noa' })]);
  renderAt('/runs', <RunsPage />);
  const [asked, silent] = await screen.findAllByRole('listitem');
  expect(asked).toHaveTextContent(/Is it late\?812 ms.* agoChatmira3 nodes/);
  expect(screen.getByRole('checkbox', { name: 'Compare Is it late?, r2' })).toBeVisible();
  expect(silent).toHaveTextContent(/No workflow812 ms.* agonoa3 nodes/);
});

test('a search for words of the question asks the server once it is typed, and can be cleared', async () => {
  serve([]);
  server.use(
    http.get('*/api/runs', ({ request }) => {
      const q = new URL(request.url).searchParams.get('q');
      return HttpResponse.json({
        results: q === 'late' ? [listed('r1', { question: 'Is it late?' })] : [],
        next: null,
      });
    }),
  );
  const { router } = renderAt('/runs?status=failed', <RunsPage />);
  const search = screen.getByRole('searchbox', { name: 'Search questions' });
  await userEvent.type(search, 'late');
  expect(await screen.findByRole('listitem')).toHaveTextContent('Is it late?');
  expect(router.state.location.search).toBe('?status=failed&q=late');
  await userEvent.click(screen.getByRole('button', { name: 'Clear filters' }));
  expect(search).toHaveValue('');
  expect(await screen.findByText('No runs yet')).toBeVisible();
});

test('a run opens at the node that answered, and another node when it is chosen', async () => {
  const inner = aWorkflow('Thinking', aNode('Plan', { output: 'Boil it.' }));
  const answer = aNode('Answer', {
    is_responder: true,
    prompt: [{ role: 'user', content: 'About soup' }],
    variables: [{ name: 'topic', message: 0, start: 6, end: 10 }],
  });
  serve([], aRun('r1', [aNode('Think', { children: [inner] }), answer]));
  renderAt('/runs?id=r1', <RunsPage />);
  const panel = await screen.findByRole('region', { name: 'Node Answer' });
  expect(within(panel).getByRole('group', { name: 'Variable topic' })).toHaveTextContent('soup');
  await userEvent.click(screen.getByRole('treeitem', { name: /Plan/ }));
  expect(await screen.findByText('Boil it.')).toBeVisible();
});

test('a run says why memory took no part', async () => {
  serve([], aRun('r1', [aNode('Answer', { is_responder: true })], { memory_skipped: 'workflow' }));
  renderAt('/runs?id=r1', <RunsPage />);
  expect(await screen.findByText('not in this workflow')).toBeVisible();
  expect(screen.getByRole('heading', { name: 'Chat' })).toBeVisible();
});

test('a run is headed by its question, and tells its workflow', async () => {
  serve([], aRun('r1', [aNode('Answer', { is_responder: true })], { question: 'Is it late?' }));
  renderAt('/runs?id=r1', <RunsPage />);
  expect(await screen.findByRole('heading', { name: 'Is it late?' })).toBeVisible();
  expect(screen.getByText('Workflow', { selector: 'dt' }).closest('div')).toHaveTextContent('WorkflowChat');
});

test('a closed workflow hides its nodes', async () => {
  serve([], aRun('r1', [aNode('Answer', { is_responder: true })]));
  renderAt('/runs?id=r1', <RunsPage />);
  const workflow = await screen.findByRole('treeitem', { name: /Chat/ });
  await userEvent.click(workflow);
  expect(workflow).toHaveAttribute('aria-expanded', 'false');
  expect(screen.queryByRole('treeitem', { name: /Answer/ })).not.toBeInTheDocument();
});

test('what is switched off says how to switch it on', async () => {
  const off = { detail: 'Off.', error: 'Off.', code: 'runs_off', request_id: 'r' };
  server.use(http.get('*/api/runs', () => HttpResponse.json(off, { status: 404 })));
  serveNothingLive();
  renderAt('/runs', <RunsPage />);
  expect(await screen.findByText('Runs are not recorded')).toBeVisible();
});

test('a server in trouble is told, and asked again', async () => {
  const broken = { detail: 'Broken.', error: 'Broken.', code: 'internal_error', request_id: 'r' };
  server.use(http.get('*/api/runs', () => HttpResponse.json(broken, { status: 500 }), { once: true }));
  serveNothingLive();
  renderAt('/runs', <RunsPage />);
  expect(await screen.findByText('Broken.')).toBeVisible();
  serve([listed('r1')]);
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByRole('listitem')).toHaveTextContent('Chat');
});

function serveNothingLive() {
  server.use(http.get('*/api/runs/live', () => new HttpResponse(null, { status: 503 })));
}

test('two marked runs can be compared', async () => {
  serve([listed('r2'), listed('r1')], aRun('r1', [aNode('Answer')]));
  renderAt('/runs', <RunsPage />);
  for (const box of await screen.findAllByRole('checkbox', { name: /^Compare/ })) await userEvent.click(box);
  await userEvent.click(screen.getByRole('link', { name: 'Compare two runs' }));
  const figures = await screen.findByRole('region', { name: 'Figures of both runs' });
  expect(within(figures).getByRole('row', { name: /Answered/ })).toHaveTextContent('the same');
});

test('a run under way shows the node that the feed tells of', async () => {
  const first = aNode('Think', { duration_ms: null });
  let run = aRun('r1', [first], { status: 'running', duration_ms: null, answered_ms: null });
  let tell: (event: string) => void = () => undefined;
  serve([listed('r1', { status: 'running' })]);
  server.use(
    http.get('*/api/runs/live', ({ request }) => {
      expect(new URL(request.url).searchParams.get('nodes')).toBe('true');
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const text = new TextEncoder();
          tell = event => controller.enqueue(text.encode(event));
          tell(':\n\n');
        },
      });
      return new HttpResponse(body, { headers: { 'content-type': 'text/event-stream' } });
    }),
    http.get('*/api/runs/:id', () => HttpResponse.json(run)),
  );
  renderAt('/runs?id=r1', <RunsPage />);
  expect(await screen.findByRole('treeitem', { name: /Think/ })).toBeVisible();
  expect(await screen.findByRole('switch', { name: /Runs appear as they happen/ })).toBeChecked();
  run = { ...run, workflows: [aWorkflow('Chat', first, aNode('Answer'))] };
  const moved = { run_id: 'r1', number: 2, title: 'Answer', type: 'Standard', state: 'running' };
  tell(`event: node\ndata: ${JSON.stringify(moved)}\n\n`);
  expect(await screen.findByRole('treeitem', { name: /Answer/ }, { timeout: 10_000 })).toBeVisible();
}, 20_000);

test('two runs of which one is gone say so', async () => {
  const gone = { detail: 'Gone.', error: 'Gone.', code: 'run_not_found', request_id: 'r' };
  serve([]);
  server.use(http.get('*/api/runs/:id', () => HttpResponse.json(gone, { status: 404 })));
  serveNothingLive();
  renderAt('/runs?compare=r1,r2', <RunsPage />);
  expect(await screen.findByText('One of these runs no longer exists')).toBeVisible();
});

test('where there is no run yet, the page leads to what makes one', async () => {
  serve([]);
  renderAt('/runs', <RunsPage />);
  expect(await screen.findByRole('link', { name: 'Go to chat' })).toHaveAttribute('href', '/');
  expect(screen.getByRole('link', { name: 'Connect an app' })).toHaveAttribute('href', '/connect');
});

test('a run that happens while the list is on its way is not lost', async () => {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>(resolve => {
    answer = resolve;
  });
  const feed = new TransformStream<Uint8Array, Uint8Array>();
  let asked = 0;
  server.use(
    http.get('*/api/runs/live', () => new HttpResponse(feed.readable)),
    http.get('*/api/runs', async () => {
      asked += 1;
      await answered;
      return HttpResponse.json({ results: [], next: null });
    }),
  );
  renderAt('/runs', <RunsPage />);
  await waitFor(() => expect(asked).toBe(1));
  void feed.writable.getWriter().write(new TextEncoder().encode(`data: ${JSON.stringify(listed('r1'))}\n\n`));
  await waitFor(() => expect(screen.getByRole('switch', { name: /Live/ })).toBeVisible());
  answer();
  expect(await screen.findByRole('listitem')).toHaveTextContent('Chat');
  expect(asked).toBe(2); // what happened before the feed was there
});

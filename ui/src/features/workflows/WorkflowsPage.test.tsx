import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { WorkflowsPage } from './WorkflowsPage';

const FILE = 'Workflows/Ann/Chat.json';
const TREE = {
  root: '/tree',
  models: ['Ann'],
  users: [
    {
      name: 'Ann',
      path: 'Users/ann.json',
      is_served: true,
      is_current: true,
      models: ['Ann'],
      starts: [{ name: 'Chat', path: FILE, when: null }],
      problem: '',
    },
  ],
  files: [
    { path: 'Users/ann.json', kind: 'users', size_bytes: 2, modified_at: null },
    { path: FILE, kind: 'workflows', size_bytes: 2, modified_at: null },
  ],
};
const PROBLEM = { file: FILE, path: '$[0]', level: 'error', cause: 'It is odd.', fix: 'Mend it.' };

function serve(tree: object = TREE, problems: object[] = []) {
  server.use(
    http.get('*/api/workflows', () => HttpResponse.json(tree)),
    http.get('*/api/workflows/problems', () =>
      HttpResponse.json({ problems, errors: problems.length, warnings: 0, checked_at: '2026-01-01T00:00:00.000Z' }),
    ),
    http.get('*/api/workflows/graph', () => HttpResponse.json({ path: FILE, user: 'Ann', nodes: [], variables: [] })),
    http.get('*/api/workflows/files/*', () =>
      HttpResponse.json({ path: FILE, kind: 'workflows', text: '[]', is_redacted: false }),
    ),
    http.get('*/api/workflows/schema/*', () => HttpResponse.json({})),
    http.get('*/api/workflows/saving', () => HttpResponse.json({ is_on: false, reason: 'Saving is off.' })),
  );
}

test('it opens where messages of the first user start', async () => {
  serve();
  renderAt('/workflows', <WorkflowsPage />);
  expect(await screen.findByRole('heading', { name: /Ann.*Chat/ })).toBeVisible();
  expect(await screen.findByText('No steps')).toBeVisible();
});

test('the header says once what the page and its file are', async () => {
  serve();
  renderAt('/workflows', <WorkflowsPage />);
  expect(await screen.findByRole('heading', { name: /^Ann.*Chat$/ })).toBeVisible();
  expect(screen.getByRole('heading', { name: 'Workflows' })).toBeVisible();
  expect(screen.queryByText('Workflow')).not.toBeInTheDocument();
});

test('a problem leads to its file', async () => {
  serve(TREE, [PROBLEM]);
  renderAt('/workflows?file=Users/ann.json', <WorkflowsPage />);
  await userEvent.click(await screen.findByRole('tab', { name: /Problems/ }));
  const problems = await screen.findByRole('region', { name: 'Problems' });
  expect(within(problems).getByText('It is odd.')).toBeVisible();
  await userEvent.click(within(problems).getByRole('link', { name: /Chat.json/ }));
  expect(await screen.findByRole('heading', { name: /Ann.*Chat/ })).toBeVisible();
});

test('a workflow that cannot remember says so', async () => {
  const [user] = TREE.files;
  serve({ ...TREE, files: [user, { ...TREE.files[1], can_remember: false }] });
  renderAt('/workflows', <WorkflowsPage />);
  expect(await screen.findByText('No memory')).toBeVisible();
});

test('a file that is not there is said to be missing', async () => {
  serve();
  renderAt('/workflows?file=nowhere.json', <WorkflowsPage />);
  expect(await screen.findByText('No such file')).toBeVisible();
});

test('a tree that cannot be loaded can be asked for again', async () => {
  serve();
  server.use(
    http.get('*/api/workflows', () => HttpResponse.json({ detail: 'The disk is gone.' }, { status: 500 }), {
      once: true,
    }),
  );
  renderAt('/workflows', <WorkflowsPage />);
  expect(await screen.findByText('The disk is gone.')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByRole('heading', { name: /Ann.*Chat/ })).toBeVisible();
});

test('a file is found by words of its path', async () => {
  serve();
  const { router } = renderAt('/workflows?file=Users/ann.json', <WorkflowsPage />);
  const field = await screen.findByRole('textbox', { name: 'Find a file' });
  await userEvent.type(field, 'chat ann');
  const files = screen.getByRole('list', { name: 'Files' });
  await userEvent.click(within(files).getByRole('link', { name: 'Chat' }));
  expect(new URLSearchParams(router.state.location.search).get('file')).toBe(FILE);
  await userEvent.clear(field);
  await userEvent.type(field, 'nothing like it');
  expect(await screen.findByText('No path contains all of these words.')).toBeVisible();
});

test('a user shows where messages start, and leads there', async () => {
  serve();
  renderAt('/workflows?file=Users/ann.json', <WorkflowsPage />);
  const starts = await screen.findByRole('region', { name: 'Where messages start' });
  await userEvent.click(within(starts).getByRole('link', { name: 'Chat' }));
  expect(await screen.findByRole('heading', { name: /Ann.*Chat/ })).toBeVisible();
});

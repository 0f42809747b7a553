import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { NewWorkflowDialog } from './NewWorkflowDialog';
import { SaveTools } from './SaveTools';

const PATH = 'Workflows/Ann/Chat.json';
const FILE = {
  path: PATH,
  kind: 'workflows' as const,
  text: '[]',
  is_redacted: false,
  digest: 'a'.repeat(64),
  has_kept: false,
};
const MINE = { text: '[{}]', base: FILE.digest };
const OFF = 'Saving is off. Set workflows.edit: true in mnemoir.yaml, and start the server again.';

interface Played {
  saving?: object;
  problems?: object[];
}

/** Plays the server, and notes what is saved. */
function play({ saving = { is_on: true, reason: '' }, problems = [] }: Played = {}) {
  const saved: { match: string | null; body: unknown }[] = [];
  const errors = problems.filter(problem => 'level' in problem && problem.level === 'error').length;
  server.use(
    http.get('*/api/workflows/saving', () => HttpResponse.json(saving)),
    http.post('*/api/workflows/check', () =>
      HttpResponse.json({ problems, errors, warnings: problems.length - errors, checked_at: '2026-01-01T00:00:00Z' }),
    ),
    http.put('*/api/workflows/files/*', async ({ request }) => {
      saved.push({ match: request.headers.get('If-Match'), body: await request.json() });
      return HttpResponse.json({ file: { ...FILE, text: MINE.text, has_kept: true }, warnings: [] });
    }),
  );
  return saved;
}

function show(changes: Partial<Parameters<typeof SaveTools>[0]> = {}) {
  const onDraft = vi.fn();
  const onDiscard = vi.fn();
  renderAt('/', <SaveTools file={FILE} draft={MINE} onDraft={onDraft} onDiscard={onDiscard} {...changes} />);
  return { onDraft, onDiscard };
}

async function openSave() {
  await userEvent.click(await screen.findByRole('button', { name: 'Save…' }));
  return screen.findByRole('dialog', { name: 'Save the workflow' });
}

test('while saving is off, the place where one types says which setting switches it on', async () => {
  play({ saving: { is_on: false, reason: OFF } });
  show();
  expect(await screen.findByText(/workflows.edit: true/)).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Save…' })).not.toBeInTheDocument();
});

test('a file that is no workflow is said not to be saved here', async () => {
  play();
  show({ file: { ...FILE, kind: 'endpoints' } });
  expect(await screen.findByText(/Only workflows can be saved here/)).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Save…' })).not.toBeInTheDocument();
});

test('what is saved is compared and checked first, and replaces the text it was made from', async () => {
  const saved = play();
  const { onDraft } = show();
  const dialog = await openSave();
  expect(await within(dialog).findByText('No problems found.')).toBeVisible();
  expect(await within(dialog).findByRole('textbox', { name: 'Your changes' })).toHaveTextContent('[{}]');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
  await vi.waitFor(() => expect(onDraft).toHaveBeenCalledWith(undefined));
  expect(saved).toEqual([{ match: `"${FILE.digest}"`, body: { text: MINE.text } }]);
});

test('a text with errors is not saved, and the errors are listed', async () => {
  play({ problems: [{ file: PATH, path: '$[0].type', level: 'error', cause: 'It is odd.', fix: 'Mend it.' }] });
  show();
  const dialog = await openSave();
  expect(await within(dialog).findByText('Fix these errors before saving')).toBeVisible();
  expect(within(dialog).getByText(/It is odd. Mend it./)).toBeVisible();
  expect(within(dialog).getByRole('button', { name: 'Save' })).toBeDisabled();
});

test('warnings keep nobody from saving', async () => {
  play({ problems: [{ file: PATH, path: '$[0]', level: 'warning', cause: 'It is odd.', fix: 'Mend it.' }] });
  show();
  const dialog = await openSave();
  expect(await within(dialog).findByText('Can be saved, with warnings')).toBeVisible();
  expect(within(dialog).getByRole('button', { name: 'Save' })).toBeEnabled();
});

test('where somebody else changed the file, theirs is shown, and can be taken or replaced', async () => {
  const saved = play();
  const theirs = { ...FILE, text: '[1]', digest: 'b'.repeat(64) };
  const { onDiscard } = show({ file: theirs });
  let dialog = await openSave();
  expect(within(dialog).getByText('Someone else changed this file')).toBeVisible();
  await userEvent.click(within(dialog).getByRole('button', { name: 'Take theirs' }));
  expect(onDiscard).toHaveBeenCalled();
  dialog = await openSave();
  await within(dialog).findByText('No problems found.');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Overwrite theirs' }));
  await vi.waitFor(() => expect(saved).toHaveLength(1));
  expect(saved[0]?.match).toBe(`"${theirs.digest}"`);
});

test('what the server refuses is told, and what was typed stays', async () => {
  play();
  server.use(
    http.put('*/api/workflows/files/*', () => HttpResponse.json({ detail: 'The disk is full.' }, { status: 503 })),
  );
  const { onDraft } = show();
  const dialog = await openSave();
  await within(dialog).findByText('No problems found.');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
  expect(await within(dialog).findByText('The disk is full.')).toBeVisible();
  expect(onDraft).not.toHaveBeenCalled();
});

test('the earlier version is compared and restored', async () => {
  play();
  let match: string | null = null;
  server.use(
    http.get('*/api/workflows/kept/*', () => HttpResponse.json({ ...FILE, text: '[0]' })),
    http.post('*/api/workflows/kept/*', ({ request }) => {
      match = request.headers.get('If-Match');
      return HttpResponse.json({ file: { ...FILE, text: '[0]', has_kept: true }, warnings: [] });
    }),
  );
  const { onDraft } = show({ file: { ...FILE, has_kept: true }, draft: undefined });
  await userEvent.click(await screen.findByRole('button', { name: 'Earlier version…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Earlier version' });
  expect(await within(dialog).findByRole('textbox', { name: 'What restoring changes' })).toHaveTextContent('[0]');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Restore' }));
  await vi.waitFor(() => expect(onDraft).toHaveBeenCalledWith(undefined));
  expect(match).toBe(`"${FILE.digest}"`);
  expect(await screen.findByText('Restored.')).toBeVisible();
});

const TREE = {
  root: '/tree',
  models: ['Ann'],
  users: [],
  files: [
    { path: 'Endpoints/Main.json', kind: 'endpoints' as const, size_bytes: 2, modified_at: null, can_remember: null },
    { path: PATH, kind: 'workflows' as const, size_bytes: 2, modified_at: null, can_remember: null },
  ],
};

test('a new workflow begins with a node that answers', async () => {
  const saved = play();
  const onMade = vi.fn();
  renderAt('/', <NewWorkflowDialog tree={TREE} folder="Workflows/Ann" onMade={onMade} onClose={() => undefined} />);
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'Verse');
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  await vi.waitFor(() => expect(onMade).toHaveBeenCalledWith('Workflows/Ann/Verse.json'));
  const { text } = saved[0]?.body as { text: string };
  expect(JSON.parse(text)).toMatchObject([{ type: 'Standard', endpointName: 'Main', returnToUser: true }]);
});

test('a name that is refused says why', async () => {
  play();
  server.use(
    http.put('*/api/workflows/files/*', () =>
      HttpResponse.json({ detail: 'There is a similar name.', code: 'similar_name' }, { status: 409 }),
    ),
  );
  const onMade = vi.fn();
  renderAt('/', <NewWorkflowDialog tree={TREE} folder="" onMade={onMade} onClose={() => undefined} />);
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'chat');
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  expect(await screen.findByText('There is a similar name.')).toBeVisible();
  expect(onMade).not.toHaveBeenCalled();
});

import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { callsAs, server } from '@/shared/testing/server';
import { MemoriesPage } from './MemoriesPage';

function memory(id: string, text: string, more: object = {}) {
  const at = '2026-03-01T10:00:00.000Z';
  return {
    id,
    memory: text,
    user_id: 'user',
    created_at: at,
    updated_at: at,
    metadata: null,
    kind: 'fact',
    state: 'current',
    decays_at: null,
    ...more,
  };
}

const CHATS = [{ id: 'boats', title: 'Rowing in June', preview: '' }];

interface Asked {
  method: string;
  address: URL;
  body: unknown;
}

/** A server with these memories, and what it was asked. */
function serveMemories(memories: ReturnType<typeof memory>[]): Asked[] {
  const asked: Asked[] = [];
  const note = async (request: Request) => {
    const text = await request.clone().text();
    asked.push({ method: request.method, address: new URL(request.url), body: text ? JSON.parse(text) : undefined });
  };
  server.use(
    http.get('*/api/projects', () => HttpResponse.json({ results: [] })),
    http.get('*/api/sample', () => HttpResponse.json({ user_id: 'sample', state: 'taken' })),
    http.get('*/api/conversations', () => HttpResponse.json({ results: CHATS, next: null })),
    http.get('*/api/memories/proposals', () => HttpResponse.json({ results: [], total: 0, next: null })),
    http.get('*/api/memories', async ({ request }) => {
      await note(request);
      return HttpResponse.json({ results: memories, total: memories.length, next: null });
    }),
    http.post('*/api/memories/search', async ({ request }) => {
      await note(request);
      return HttpResponse.json({
        results: [{ ...memories[0], score: 0.81, signals: { words: 1.2, vector: 0.4 } }],
        stages: { words: { took_ms: 1, skipped: '' }, date: { took_ms: 0, skipped: 'no date named' } },
      });
    }),
    http.get('*/api/memories/:id/details', ({ params }) => {
      const found = memories.find(each => each.id === params.id);
      return HttpResponse.json({ memory: found, sources: [], history: [] });
    }),
    http.patch('*/api/memories/:id', async ({ request }) => {
      await note(request);
      return HttpResponse.json(
        { detail: 'Memory a was changed meanwhile.', code: 'memory_changed' },
        { status: 409 },
      );
    }),
    http.post('*/api/memories/batch', async ({ request }) => {
      await note(request);
      return HttpResponse.json({ changes: [{ id: 'chg_1', project: 'default', memories: memories.length }] });
    }),
    http.post('*/api/memories/changes/:id/undo', async ({ request }) => {
      await note(request);
      return HttpResponse.json({ id: 'chg_2', results: [] });
    }),
  );
  return asked;
}

test('the list says where each memory comes from, and its kind and state only where they differ', async () => {
  serveMemories([
    memory('a', 'Rows every morning', { origin: 'user', metadata: { session_id: 'boats' } }),
    memory('b', 'Likes tea', { origin: 'import', updated_at: '2026-03-02T10:00:00.000Z' }),
    memory('c', 'Said so', { origin: 'api', app_id: 'Kitchen', kind: 'message', state: 'fading' }),
    memory('d', 'Lives in Graz', { origin: 'user' }),
  ]);
  renderAt('/memories', <MemoriesPage />);
  const row = async (name: RegExp) => screen.findByRole('row', { name });
  expect(await row(/Rows every morning.*Rowing in June/)).not.toHaveTextContent(/fact|current|edited/i);
  expect(await row(/Likes tea.*an import/)).toHaveTextContent('edited');
  expect(await row(/Said so.*Kitchen/)).toHaveTextContent(/message.*Fading/);
  expect(await row(/Lives in Graz.*a chat/)).not.toHaveTextContent('edited');
});

test('the address says what is listed', async () => {
  const asked = serveMemories([memory('a', 'Likes tea')]);
  renderAt(
    '/memories?user=mira&project=atlas&kind=fact&origin=tool&hidden=only&order=updated_asc&source=boats',
    <MemoriesPage />,
  );
  expect(await screen.findByText('Likes tea')).toBeInTheDocument();
  const query = Object.fromEntries(asked[0]?.address.searchParams ?? []);
  expect(query).toMatchObject({
    user_id: 'mira',
    project: 'atlas',
    kind: 'fact',
    origin: 'tool',
    hidden: 'only',
    order: 'updated_asc',
    source: 'boats',
  });
});

test('nonsense in the address is passed over', async () => {
  const asked = serveMemories([memory('a', 'Likes tea')]);
  renderAt('/memories?kind=dream&order=upwards&age=many', <MemoriesPage />);
  await screen.findByText('Likes tea');
  expect([...(asked[0]?.address.searchParams.keys() ?? [])].sort()).toEqual([
    'hidden',
    'limit',
    'order',
    'project',
    'user_id',
  ]);
});

test('without memories it says where they come from', async () => {
  serveMemories([]);
  renderAt('/memories', <MemoriesPage />);
  expect(await screen.findByText('No memories yet')).toBeInTheDocument();
});

test('a server that fails is told with a way to try again', async () => {
  serveMemories([memory('a', 'Likes tea')]);
  server.use(
    http.get('*/api/memories', () => HttpResponse.json({ detail: 'The disk is full.' }, { status: 500 }), {
      once: true,
    }),
  );
  renderAt('/memories', <MemoriesPage />);
  expect(await screen.findByText('The disk is full.')).toBeInTheDocument();
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('Likes tea')).toBeInTheDocument();
});

test('a search shows how well each fits, what each stage gave to that, and the words that match', async () => {
  serveMemories([memory('a', 'Likes tea')]);
  renderAt('/memories?q=who+likes+drinks', <MemoriesPage />);
  expect(await screen.findByText('Score 0.81, Words 1.20, Meaning 0.40')).toBeInTheDocument();
  await userEvent.hover(screen.getByText('0.81'));
  expect(await screen.findByText('Similarity of meaning (cosine)')).toBeVisible();
  expect(within(screen.getByRole('grid')).getByText('Likes', { selector: 'mark' })).toBeVisible();
  expect(screen.getByTitle(/date: no date named/)).toHaveTextContent('1 found, best first');
});

test('a search begins as one types, keeps the field and its focus, and goes back in one step', async () => {
  const asked = serveMemories([memory('a', 'Rows every morning'), memory('b', 'Lives in Graz')]);
  const { router } = renderAt('/memories', <MemoriesPage />);
  await screen.findByText('Lives in Graz');
  const box = screen.getByRole('searchbox', { name: 'Search memories' });
  await userEvent.type(box, 'which sport');
  await waitFor(() => expect(router.state.location.search).toBe('?q=which+sport'));
  expect(await screen.findByText('1 found, best first')).toBeVisible();
  expect(box).toHaveFocus();
  await userEvent.type(box, 's ');
  await waitFor(() => expect(router.state.location.search).toBe('?q=which+sports'));
  expect(box).toHaveValue('which sports ');
  await waitFor(() => expect(asked.at(-1)).toMatchObject({ method: 'POST', body: { query: 'which sports' } }));
  await act(() => router.navigate(-1));
  expect(await screen.findByText('2 memories')).toBeVisible();
  expect(box).toHaveValue('');
});

test('what was found for other words is not said to be found for these', async () => {
  serveMemories([memory('a', 'Rows every morning')]);
  renderAt('/memories?q=sport', <MemoriesPage />);
  await screen.findByText('1 found, best first');
  server.use(http.post('*/api/memories/search', () => new Promise<never>(() => undefined)));
  await userEvent.type(screen.getByRole('searchbox', { name: 'Search memories' }), ' xylophone');
  expect(await screen.findByText('Searching…')).toBeVisible();
  expect(screen.queryByText('1 found, best first')).toBeNull();
  expect(screen.getByRole('grid').closest('[data-waiting]')).not.toBeNull();
});

test('what has nothing in common with the question stands below a line', async () => {
  serveMemories([]);
  const found = [memory('a', 'Likes tea'), memory('b', 'Rows each morning'), memory('c', 'Lives in Graz')];
  const hits = found.map((each, at) => ({ ...each, score: 0.5, signals: {}, ...(at !== 1 && { likely: false }) }));
  server.use(http.post('*/api/memories/search', () => HttpResponse.json({ results: hits, stages: {} })));
  renderAt('/memories?q=rowing', <MemoriesPage />);
  expect(await screen.findByText('1 found, best first; 2 less likely')).toBeInTheDocument();
  const shown = screen.getByRole('grid').textContent;
  expect(shown).toMatch(/Rows each morning.*Less likely.*Likes tea.*Lives in Graz/);
});

test('a memory is added by hand, word for word', async () => {
  serveMemories([]);
  const bodies: unknown[] = [];
  server.use(
    http.post('*/api/memories', async ({ request }) => {
      bodies.push(await request.json());
      return HttpResponse.json({ results: [{ id: 'a', memory: 'Hates coriander', event: 'ADD' }], message: '' });
    }),
  );
  renderAt('/memories?user=mira', <MemoriesPage />);
  await userEvent.click(screen.getByRole('button', { name: 'Add a memory' }));
  await userEvent.type(await screen.findByRole('textbox', { name: 'Memory' }), 'Hates coriander{Control>}{Enter}');
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
  const messages = [{ role: 'user', content: 'Hates coriander' }];
  expect(bodies).toEqual([{ messages, user_id: 'mira', infer: false, origin: 'person' }]);
});

/** The dialog of a project's settings with this retention of its own, and what was changed. */
async function openSettings(own: Record<string, number> = {}): Promise<unknown[]> {
  serveMemories([]);
  const changes: unknown[] = [];
  const note = async ({ request }: { request: Request }) => {
    changes.push(await request.json());
    return HttpResponse.json({ success: true });
  };
  const otherwise = { memoriesDays: 0, historyDays: 1, deletedDays: 1500 };
  server.use(
    http.get('*/api/memories/settings', () =>
      HttpResponse.json({
        ...{ memoryEnabled: true, decayDays: 0, searchLimit: 5, review: 'off' },
        ...{ piiFacts: 'off', piiMessages: 'tag', piiModels: 'off', timeZone: null },
        ...{ ...otherwise, ...own, retention: { own, otherwise } },
      }),
    ),
    http.get('*/api/memories/extraction-prompt', () => HttpResponse.json({ prompt: 'Keep it.', isCustom: false })),
    http.put('*/api/memories/settings', note),
    http.put('*/api/memories/extraction-prompt', note),
    http.delete('*/api/memories/extraction-prompt', () => HttpResponse.json({ prompt: 'Keep it.' })),
  );
  renderAt('/memories', <MemoriesPage />);
  await userEvent.click(screen.getByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Memory settings…' }));
  await screen.findByRole('dialog', { name: /Memory settings/ });
  return changes;
}

test('the project’s memory settings and extraction prompt are changed in the page', async () => {
  const changes = await openSettings();
  const days = await screen.findByRole('textbox', { name: 'Facts fade after' });
  await userEvent.clear(days);
  await userEvent.type(days, '90');
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Review before remembering' }), 'Everything');
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'In memories' }), 'Refuse it');
  await userEvent.type(screen.getByRole('textbox', { name: 'Extraction prompt' }), ' All of it.');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() =>
    expect(changes).toEqual([{ decayDays: 90, review: 'all', piiFacts: 'block' }, { prompt: 'Keep it. All of it.' }]),
  );
});

test('the project’s time zone is chosen in the page', async () => {
  const changes = await openSettings();
  await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'Time zone' }), 'Europe/Vienna');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(changes).toEqual([{ timeZone: 'Europe/Vienna' }]));
});

const retention = (name: string) => screen.findByRole('textbox', { name });

test('an empty field of the retention shows what holds then, and an own one its days', async () => {
  await openSettings({ deletedDays: 30 });
  expect(await retention('Memories')).toHaveValue('');
  expect(await retention('Memories')).toHaveAttribute('placeholder', 'forever');
  expect(await retention('History of memories')).toHaveAttribute('placeholder', '1 day');
  expect(await retention('Deleted memories')).toHaveValue('30 days');
  await userEvent.clear(await retention('Deleted memories'));
  expect(await retention('Deleted memories')).toHaveAttribute('placeholder', '1,500 days');
});

test('only the retention that differs is sent, and an emptied field as none of its own', async () => {
  const changes = await openSettings({ historyDays: 9, deletedDays: 30 });
  await userEvent.type(await retention('Memories'), '0');
  await userEvent.clear(await retention('Deleted memories'));
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(changes).toEqual([{ memoriesDays: 0, deletedDays: null }]));
});

test('the defaults are without a retention of its own', async () => {
  const changes = await openSettings({ memoriesDays: 30 });
  await userEvent.click(await screen.findByRole('button', { name: 'Reset to defaults' }));
  await waitFor(() => expect(changes).toHaveLength(1));
  expect(changes[0]).toMatchObject({ memoriesDays: null, historyDays: null, deletedDays: null, timeZone: null });
});

test('what the server has against a retention stands at its field, and anything else below', async () => {
  await openSettings();
  const refuse = (loc: string[], msg: string) =>
    server.use(
      http.put('*/api/memories/settings', () =>
        HttpResponse.json({ detail: [{ loc, msg }], code: 'validation_error' }, { status: 422 }),
      ),
    );
  refuse(['body', 'memoriesDays'], 'That is too long.');
  await userEvent.type(await retention('Memories'), '40000');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(async () => expect(await retention('Memories')).toBeInvalid());
  expect(await retention('Memories')).toHaveAccessibleDescription(/That is too long\./);
  expect(await retention('Deleted memories')).toBeValid();
  expect(screen.queryByRole('alert')).toBeNull();
  refuse(['body', 'review'], 'Nobody reviews.');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByRole('alert')).toHaveTextContent('review: Nobody reviews.');
  expect(await retention('Memories')).toBeValid();
});

test('whoever is no admin is not offered the settings', async () => {
  callsAs({ roles: ['write'], may: { admin: false } });
  serveMemories([]);
  renderAt('/memories', <MemoriesPage />);
  await screen.findByText('No memories yet');
  await userEvent.click(screen.getByRole('button', { name: 'More' }));
  expect(await screen.findByRole('menuitem', { name: 'Changes…' })).toBeVisible();
  await waitFor(() => expect(screen.queryByRole('menuitem', { name: 'Memory settings…' })).toBeNull());
});

test('the filters go with a search, and the age counts as the list has it', async () => {
  const asked = serveMemories([memory('a', 'Likes tea')]);
  renderAt(
    '/memories?user=mira&q=drinks&kind=fact&age=7&source=boats&hidden=with&order=updated_desc',
    <MemoriesPage />,
  );
  await screen.findByText('0.81');
  expect(asked[0]?.body).toMatchObject({
    query: 'drinks',
    user_id: 'mira',
    kind: 'fact',
    source: 'boats',
    hidden: 'with',
    by: 'updated',
    since: expect.stringMatching(/^\d{4}-.*Z$/) as string,
  });
  await userEvent.click(screen.getByRole('button', { name: 'Filters (4)' }));
  await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'Age since' }), 'Learned');
  await waitFor(() => expect(asked.at(-1)?.body).toMatchObject({ by: 'created' }));
});

test('a search among some that finds nothing offers to search all', async () => {
  serveMemories([memory('a', 'Likes tea')]);
  server.use(
    http.post('*/api/memories/search', async ({ request }) => {
      const { kind } = (await request.json()) as { kind?: string };
      return HttpResponse.json({ results: kind ? [] : [{ ...memory('a', 'Likes tea'), score: 0.81, signals: {} }] });
    }),
  );
  renderAt('/memories?q=drinks&kind=message', <MemoriesPage />);
  await userEvent.click(await screen.findByRole('link', { name: 'Search all' }));
  expect(await screen.findByText('Likes tea')).toBeInTheDocument();
});

test('a memory that is nowhere is told to be gone', async () => {
  serveMemories([memory('a', 'Likes tea')]);
  server.use(
    http.get('*/api/memories/:id/details', () =>
      HttpResponse.json({ detail: 'No memory.', code: 'memory_not_found' }, { status: 404 }),
    ),
  );
  renderAt('/memories?id=b', <MemoriesPage />);
  expect(await screen.findByText('Memory not found')).toBeInTheDocument();
  expect(screen.queryByRole('button', { name: 'Try again' })).not.toBeInTheDocument();
});

test('what opened a dialog has the focus when it is closed', async () => {
  serveMemories([memory('a', 'Likes tea')]);
  server.use(http.get('*/api/memories/duplicates', () => HttpResponse.json({ results: [], total: 0, compared: 1 })));
  renderAt('/memories', <MemoriesPage />);
  const duplicates = await screen.findByRole('button', { name: 'Duplicates' });
  await userEvent.click(duplicates);
  await screen.findByRole('dialog');
  await userEvent.keyboard('{Escape}');
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
  expect(duplicates).toHaveFocus();
  for (const entry of ['Import…', 'Delete all memories…']) {
    await userEvent.click(screen.getByRole('button', { name: 'More' }));
    await userEvent.click(await screen.findByRole('menuitem', { name: entry }));
    await screen.findByRole('dialog');
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(screen.getByRole('button', { name: 'More' })).toHaveFocus();
  }
});

test('an edit names what was seen, and says when somebody else was quicker', async () => {
  const asked = serveMemories([memory('a', 'Likes tea')]);
  renderAt('/memories?id=a', <MemoriesPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
  const words = screen.getByRole('textbox', { name: 'Memory text' });
  await userEvent.clear(words);
  await userEvent.type(words, 'Likes rum');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText('Memory a was changed meanwhile.')).toBeInTheDocument();
  expect(asked.find(each => each.method === 'PATCH')?.body).toEqual({
    memory: 'Likes rum',
    updated_at: '2026-03-01T10:00:00.000Z',
  });
  expect(words).toHaveValue('Likes rum');
});

/** What the server was asked to do with several memories. */
const batches = (asked: Asked[]) => asked.filter(each => each.address.pathname.endsWith('/batch'));

test('selected memories are deleted and taken back', async () => {
  const asked = serveMemories([memory('a', 'Likes tea'), memory('b', 'Likes rum')]);
  renderAt('/memories', <MemoriesPage />);
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select all loaded' }));
  expect(screen.getByText('2 selected')).toBeInTheDocument();
  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(asked.some(({ address }) => address.pathname.endsWith('/chg_1/undo'))).toBe(true));
  expect(batches(asked).map(({ body }) => body)).toEqual([{ user_id: 'user', ids: ['a', 'b'], delete: true }]);
});

/** Moves the one memory to "atlas", and begins to take that back; the addresses of what was undone. */
async function moveAndUndo(...refused: string[]): Promise<() => string[]> {
  const asked = serveMemories([memory('a', 'Likes tea')]);
  const changes = ['default', 'atlas'].map(project => ({ id: `chg_${project}`, project, memories: 1 }));
  server.use(
    http.post('*/api/memories/batch', () => HttpResponse.json({ changes })),
    http.post('*/api/memories/changes/:id/undo', ({ request, params }) => {
      asked.push({ method: request.method, address: new URL(request.url), body: undefined });
      const full = { detail: 'There is no room.', code: 'quota_exceeded' };
      return refused.shift() === params.id
        ? HttpResponse.json(full, { status: 403 })
        : HttpResponse.json({ id: `undo_of_${String(params.id)}`, results: [] });
    }),
  );
  renderAt('/memories', <MemoriesPage />);
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select all loaded' }));
  await userEvent.click(screen.getByRole('button', { name: 'Move…' }));
  await userEvent.type(await screen.findByRole('combobox', { name: 'Project' }), 'atlas');
  await userEvent.click(screen.getByRole('button', { name: 'Move 1' }));
  const undo = await screen.findByRole('button', { name: 'Undo' });
  fireEvent.click(undo);
  fireEvent.click(undo);
  const undone = () => asked.map(({ address }) => address).filter(({ pathname }) => pathname.endsWith('/undo'));
  return () =>
    undone().map(
      ({ pathname, searchParams }) => `${pathname.split('/')[4] ?? ''} in ${searchParams.get('project') ?? ''}`,
    );
}

test('a move is undone once, and first where the memories were', async () => {
  const undone = await moveAndUndo();
  await waitFor(() => expect(undone()).toEqual(['chg_default in default', 'chg_atlas in atlas']));
});

test('where a quota has no room for both, a move is undone first where the memories are', async () => {
  const undone = await moveAndUndo('chg_default');
  await waitFor(() => expect(undone().slice(1)).toEqual(['chg_atlas in atlas', 'chg_default in default']));
});

test('what a quota has no room for at all stays where it was moved', async () => {
  const undone = await moveAndUndo('chg_default', '', 'chg_default');
  expect(await screen.findByText('Could not undo that')).toBeVisible();
  expect(undone().slice(1)).toEqual(['chg_atlas in atlas', 'chg_default in default', 'undo_of_chg_atlas in atlas']);
});

test('selected memories are tagged, moved and given a last day', async () => {
  const asked = serveMemories([memory('a', 'Likes tea', { metadata: { tags: ['old'] } }), memory('b', 'Likes rum')]);
  renderAt('/memories', <MemoriesPage />);
  const begin = async (name: string) => {
    await userEvent.click(await screen.findByRole('checkbox', { name: 'Select all loaded' }));
    await userEvent.click(screen.getByRole('button', { name }));
    return within(await screen.findByRole('dialog'));
  };
  const tag = await begin('Tag…');
  await userEvent.type(tag.getByRole('combobox', { name: 'Add tags' }), 'sea,');
  await userEvent.click(tag.getByRole('button', { name: 'Tag 2' }));
  expect(await screen.findByText('Tags of 2 memories changed')).toBeVisible();
  const move = await begin('Move…');
  await userEvent.type(move.getByRole('combobox', { name: 'Project' }), 'atlas');
  await userEvent.click(move.getByRole('button', { name: 'Move 2' }));
  expect(await screen.findByText('2 memories moved to atlas')).toBeVisible();
  const expire = await begin('Expire…');
  await userEvent.type(expire.getByLabelText('Last day'), '2030-01-31');
  await userEvent.click(expire.getByRole('button', { name: 'Let 2 expire' }));
  expect(await screen.findByText('Last day of 2 memories changed')).toBeVisible();
  const asWell = { user_id: 'user', ids: ['a', 'b'] };
  expect(batches(asked).map(({ body }) => body)).toEqual([
    { ...asWell, tags: { add: ['sea'], remove: [] } },
    { ...asWell, project: 'atlas' },
    { ...asWell, expiration_date: '2030-01-31' },
  ]);
});

test('a page of its own tells where a memory comes from, what changed it and which answers it was given to', async () => {
  const asked = serveMemories([memory('a', 'Likes tea')]);
  const changed = { memory_id: 'a', model: null, turns: [], session: null, created_at: '2026-03-02T10:00:00.000Z' };
  server.use(
    http.get('*/api/memories/:id/details', () =>
      HttpResponse.json({
        memory: memory('a', 'Likes tea', { origin: 'user' }),
        sources: [],
        history: [
          {
            ...changed,
            id: 'h1',
            event: 'ADD',
            old_memory: null,
            new_memory: 'Likes rum',
            reason: 'extracted',
            change_id: 'chg_0',
          },
          {
            ...changed,
            id: 'h2',
            event: 'UPDATE',
            old_memory: 'Likes rum',
            new_memory: 'Likes tea',
            reason: 'edit',
            change_id: 'chg_1',
          },
        ],
      }),
    ),
    http.get('*/api/memories/:id/recalls', () =>
      HttpResponse.json({
        results: [
          {
            run_id: 'run_1',
            at: '2026-03-03T10:00:00.000Z',
            question: 'What to drink?',
            conversation: 'tea',
            status: 'ok',
          },
        ],
        looked_at: 7,
      }),
    ),
  );
  renderAt('/memories?id=a', <MemoriesPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Open its page' }));
  expect(await screen.findByRole('heading', { name: 'Memory', level: 1 })).toBeVisible();
  expect(await screen.findByRole('link', { name: 'What to drink?' })).toHaveAttribute('href', '/runs?id=run_1');
  expect(screen.getByRole('link', { name: 'Open conversation' })).toHaveAttribute('href', '/conversations?id=tea');
  await userEvent.click(screen.getByRole('button', { name: 'Undo this change' }));
  await waitFor(() => expect(asked.at(-1)?.address.pathname).toBe('/api/memories/changes/chg_1/undo'));
  expect(await screen.findByText(/^Change undone/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'All memories' }));
  expect(await screen.findByRole('heading', { name: 'Memories', level: 1 })).toBeVisible();
});

test('everything is forgotten only when the user is named', async () => {
  serveMemories([memory('a', 'Likes tea')]);
  renderAt('/memories?user=mira', <MemoriesPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'More' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Delete all memories…' }));
  const dialog = within(await screen.findByRole('dialog'));
  const go = dialog.getByRole('button', { name: 'Delete all memories' });
  await userEvent.type(dialog.getByRole('textbox'), 'mir');
  expect(go).toBeDisabled();
  await userEvent.type(dialog.getByRole('textbox'), 'a');
  expect(go).toBeEnabled();
});

test('all memories of an origin are removed after a question, page by page, and can be taken back', async () => {
  const pages = [
    [memory('a', 'Likes tea', { origin: 'tool' }), memory('b', 'Likes rum', { origin: 'tool', state: 'decayed' })],
    [memory('c', 'Likes gin', { origin: 'tool' })],
  ];
  const asked = serveMemories(pages.flat());
  server.use(
    http.get('*/api/memories', ({ request }) => {
      const query = new URL(request.url).searchParams;
      asked.push({ method: 'GET', address: new URL(request.url), body: undefined });
      const isSecond = query.get('cursor') === 'second';
      return HttpResponse.json({ results: pages[isSecond ? 1 : 0], total: 3, next: isSecond ? null : 'second' });
    }),
  );
  renderAt('/memories?user=mira&project=atlas&origin=tool&age=7', <MemoriesPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Remove all of this source…' }));
  const dialog = await screen.findByRole('dialog', { name: 'Remove all of this source' });
  const sure = await within(dialog).findByRole('button', { name: 'Remove 3 memories' });
  expect(dialog).toHaveTextContent('with words from: A tool');
  expect(batches(asked)).toEqual([]);
  const looked = asked.filter(({ address }) => address.searchParams.get('hidden') === 'with');
  expect(looked.map(({ address }) => address.searchParams.get('origin'))).toEqual(['tool', 'tool']);
  expect(looked.every(({ address }) => !address.searchParams.has('since'))).toBe(true);
  await userEvent.click(sure);
  await waitFor(() => expect(batches(asked)[0]?.body).toMatchObject({ ids: ['a', 'b', 'c'], delete: true }));
  await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
  await waitFor(() => expect(asked.some(({ address }) => address.pathname.endsWith('/chg_1/undo'))).toBe(true));
});

test('without an origin or a conversation there is no source to remove', async () => {
  serveMemories([memory('a', 'Likes tea')]);
  renderAt('/memories?kind=fact', <MemoriesPage />);
  await screen.findByText('Likes tea');
  expect(screen.queryByRole('button', { name: 'Remove all of this source…' })).toBeNull();
});

/** A server that holds the sample memory or nothing, and what was asked of the sample. */
function serveSample(state: 'none' | 'there'): string[] {
  const done: string[] = [];
  serveMemories([]);
  server.use(
    http.get('*/api/sample', () => HttpResponse.json({ user_id: 'sample', state })),
    http.post('*/api/sample', () => {
      done.push('stored');
      return HttpResponse.json({ user_id: 'sample', memories: 200, chats: 47 });
    }),
    http.delete('*/api/sample', () => {
      done.push('removed');
      return HttpResponse.json({ user_id: 'sample', counts: { memories: 200 } });
    }),
  );
  return done;
}

test('an empty server offers a sample memory, and shows it once it is stored', async () => {
  const done = serveSample('none');
  const { router } = renderAt('/memories', <MemoriesPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Try it with a sample memory' }));
  await waitFor(() => expect(router.state.location.search).toBe('?user=sample'));
  expect(done).toEqual(['stored']);
});

test('a sample that a second click finds there is shown without a complaint', async () => {
  serveSample('none');
  const there = { detail: 'The sample memory is there.', code: 'sample_there' };
  server.use(http.post('*/api/sample', () => HttpResponse.json(there, { status: 409 })));
  const { router } = renderAt('/memories', <MemoriesPage />);
  await userEvent.click(await screen.findByRole('button', { name: 'Try it with a sample memory' }));
  await waitFor(() => expect(router.state.location.search).toBe('?user=sample'));
});

test('where somebody has memories, no sample is offered', async () => {
  serveSample('none');
  const users = [{ user_id: 'mira', memories: 3, changed_at: null }];
  const project = { project: 'default', memories: 3, changed_at: null, users };
  server.use(http.get('*/api/projects', () => HttpResponse.json({ results: [project] })));
  renderAt('/memories?user=nobody', <MemoriesPage />);
  expect(await screen.findByText('No memories yet')).toBeInTheDocument();
  expect(screen.queryByRole('button', { name: /sample/ })).not.toBeInTheDocument();
});

test('the sample says that it is one, and goes by one click', async () => {
  const done = serveSample('there');
  const { router } = renderAt('/memories?user=sample', <MemoriesPage />);
  expect(await screen.findByRole('note', { name: 'Sample memory' })).toHaveTextContent(/is invented/);
  await userEvent.click(screen.getByRole('button', { name: 'Remove the sample' }));
  await waitFor(() => expect(router.state.location.search).toBe('?user=user'));
  expect(done).toEqual(['removed']);
});

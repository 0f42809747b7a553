import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { encoded } from '@/shared/api/paths';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ConversationsPage } from './ConversationsPage';

const AT = '2026-11-22T10:00:00.000Z';
const tea = {
  ...{ id: 'tea', title: 'Tea', user_id: 'user', tags: [], custom: {}, system_prompt: '' },
  ...{ created_at: AT, updated_at: AT, head: 2, context_after: null, message_count: 2, preview: 'Which tea?' },
};
const problem = { detail: 'It is broken.', error: 'It is broken.', code: 'internal_error', request_id: 'r1' };

function listed(...results: unknown[]) {
  server.use(http.get('*/api/conversations', () => HttpResponse.json({ results, next: null })));
}

function remembered() {
  const overview = {
    ...{ id: 'tea', updated_at: AT, chunk_summaries: 1, records: 0, has_summary: false, bytes: 10 },
    ...{ summary: null, latest: [] },
  };
  const chunk = {
    ...{ id: 'c1', text: 'She drinks tea.', hash: 'h', number: 1, created_at: AT, made_by: null, messages: 2 },
    ...{ stale_since: AT, source: [{ role: 'user', content: 'I drink tea.' }] },
  };
  server.use(
    http.get('*/api/conversations/tea', () => HttpResponse.json(tea)),
    http.get('*/api/discussions/tea', () => HttpResponse.json(overview)),
    http.get('*/api/discussions/tea/memories', () => HttpResponse.json({ results: [chunk], next: null })),
  );
}

/** The conversation with these messages, all of which its window holds. */
function spoken(...said: { id: number; content: string }[]) {
  const messages = said.map(({ id, content }) => ({
    ...{ id, content, role: 'user', name: null, parent_id: id - 1 || null, siblings: [id], on_thread: true },
    ...{ created_at: AT, finish_reason: null, run_id: null, tool_calls: null, pinned: false, tokens: 5 },
  }));
  const parts = said.map(({ id }) => ({
    ...{ state: 'kept', tokens: 5, messages: 1, first_id: id, last_id: id, role: 'user', text: null },
  }));
  const window = {
    ...{ strategy: 'simple', max_tokens: 100, tokens: 5 * said.length, messages: [], summary: null },
    ...{ recalled: null, recalls: false, parts },
  };
  server.use(
    http.get('*/api/conversations/tea', () => HttpResponse.json(tea)),
    http.get('*/api/conversations/tea/branches', () => HttpResponse.json({ results: [], next: null, total: 1 })),
    http.get('*/api/conversations/tea/messages', () =>
      HttpResponse.json({ results: messages, next: null, newer: null, offset: 0 }),
    ),
    http.get('*/api/conversations/tea/window', () => HttpResponse.json(window)),
  );
}

describe('the import', () => {
  it('tells what a file holds before anything is stored, then what was stored', async () => {
    listed(tea);
    const asked: (string | null)[] = [];
    server.use(
      http.post('*/api/conversations/import', ({ request }) => {
        asked.push(new URL(request.url).searchParams.get('dry_run'));
        const skipped = [{ id: 'tea', title: 'Tea', why: 'exists' }];
        const counts = { conversations: 2, messages: 31, left_out: { thinking: 3 } };
        return HttpResponse.json({ success: true, message: '', ...counts, skipped });
      }),
    );
    renderAt('/conversations', <ConversationsPage />);
    await userEvent.click(screen.getByRole('button', { name: 'Import…' }));
    await screen.findByRole('dialog');
    const picker = document.querySelector<HTMLInputElement>('input[type="file"]');
    if (picker) await userEvent.upload(picker, new File(['[]'], 'conversations.json', { type: 'application/json' }));
    expect(await screen.findByText(/2 conversations with 31 messages; 1 skipped/)).toBeInTheDocument();
    expect(screen.getByText('In this file')).toBeInTheDocument();
    expect(screen.getByText(/you have it already/)).toBeInTheDocument();
    expect(screen.getByText(/no place for it: 3 of thinking/)).toBeInTheDocument();
    await userEvent.click(screen.getByRole('button', { name: 'Import' }));
    expect(await screen.findByText('Imported')).toBeInTheDocument();
    expect(asked).toEqual(['true', 'false']);
  });

  it('says why a file cannot be imported', async () => {
    listed(tea);
    server.use(http.post('*/api/conversations/import', () => HttpResponse.json(problem, { status: 400 })));
    renderAt('/conversations', <ConversationsPage />);
    await userEvent.click(screen.getByRole('button', { name: 'Import…' }));
    await screen.findByRole('dialog');
    const picker = document.querySelector<HTMLInputElement>('input[type="file"]');
    if (picker) await userEvent.upload(picker, new File(['x'], 'x.json', { type: 'application/json' }));
    expect(await screen.findByText('It is broken.')).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Import' })).toBeDisabled();
  });
});

describe('the page of conversations', () => {
  it('says what to do where there are none', async () => {
    listed();
    renderAt('/conversations', <ConversationsPage />);
    expect(await screen.findByRole('heading', { name: 'No conversations yet' })).toBeVisible();
  });

  it('tells what went wrong, and asks again', async () => {
    listed(tea);
    server.use(http.get('*/api/conversations', () => HttpResponse.json(problem, { status: 500 }), { once: true }));
    renderAt('/conversations', <ConversationsPage />);
    expect(await screen.findByRole('alert')).toHaveTextContent('It is broken.');
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByRole('link', { name: /Tea/ })).toHaveAttribute('href', '/conversations?id=tea');
  });

  it('marks a summary as stale, and shows what it was made of', async () => {
    listed(tea);
    remembered();
    renderAt('/conversations?id=tea&tab=discussion', <ConversationsPage />);
    const summary = await screen.findByRole('article');
    expect(within(summary).getByText(/stale since/)).toBeInTheDocument();
    expect(within(summary).getByText('I drink tea.')).toBeInTheDocument();
  });

  it.each([
    ['client_key_needed', 'Only the client’s key opens this'],
    ['discussion_not_found', 'No discussion memory yet'],
  ])('tells %s of a discussion apart, and takes it for no failure', async (code, told) => {
    listed(tea);
    remembered();
    server.use(http.get('*/api/discussions/tea', () => HttpResponse.json({ ...problem, code }, { status: 404 })));
    renderAt('/conversations?id=tea&tab=discussion', <ConversationsPage />);
    expect(await screen.findByRole('heading', { name: told })).toBeVisible();
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('asks before it rebuilds, tells how far it is, and what it noted', async () => {
    listed(tea);
    remembered();
    const lines = [
      { done: 1, all: 2, finished: false, notes: [] },
      { done: 2, all: 2, finished: true, notes: ['One chunk was too long.'] },
    ];
    server.use(
      http.post('*/api/discussions/tea/rebuild', ({ request }) =>
        new URL(request.url).searchParams.has('dry_run')
          ? HttpResponse.json({ chunks: 2, messages: 8, tokens: 900 })
          : new HttpResponse(`\n${lines.map(line => JSON.stringify(line)).join('\n')}\n`),
      ),
    );
    renderAt('/conversations?id=tea&tab=discussion', <ConversationsPage />);
    await userEvent.click(await screen.findByRole('button', { name: 'Rebuild…' }));
    const dialog = await screen.findByRole('dialog');
    expect(dialog).toHaveTextContent('2 chunks: 8 messages, about 900 tokens');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Rebuild' }));
    expect(await screen.findByText('Rebuilt: One chunk was too long.')).toBeVisible();
  });

  it('leaves the old memories in peace when a rebuild fails on its way', async () => {
    listed(tea);
    remembered();
    server.use(
      http.post('*/api/discussions/tea/rebuild', ({ request }) =>
        new URL(request.url).searchParams.has('dry_run')
          ? HttpResponse.json({ chunks: 2, messages: 8, tokens: 900 })
          : new HttpResponse('{"error": "The model is gone.", "code": "provider_unavailable"}\n'),
      ),
    );
    renderAt('/conversations?id=tea&tab=discussion', <ConversationsPage />);
    await userEvent.click(await screen.findByRole('button', { name: 'Rebuild…' }));
    await userEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Rebuild' }));
    expect(await screen.findByText('The model is gone.')).toBeVisible();
  });

  it.each(['gone', '.', '..'])('says of a conversation called %s that it is gone', async id => {
    listed(tea);
    server.use(http.get('*/api/conversations/gone', () => HttpResponse.json({ detail: 'None.' }, { status: 404 })));
    renderAt(`/conversations?id=${id}&message=x&budget=-1&mode=y&since=never`, <ConversationsPage />);
    expect(await screen.findByRole('heading', { name: 'Conversation not found' })).toBeVisible();
  });

  it('is opened, read and left by the keyboard alone', async () => {
    listed(tea);
    spoken({ id: 1, content: 'Which tea?' });
    const user = userEvent.setup();
    renderAt('/conversations', <ConversationsPage />);
    (await screen.findByRole('link', { name: /Tea/ })).focus();
    await user.keyboard('{Enter}');
    const transcript = await screen.findByRole('tab', { name: 'Transcript' });
    transcript.focus();
    await user.keyboard('{ArrowRight}');
    expect(await screen.findByRole('tab', { name: 'Window', selected: true })).toBeVisible();
    const more = screen.getByRole('button', { name: 'More about this conversation' });
    more.focus();
    await user.keyboard('{Enter}');
    await screen.findByRole('menu');
    await user.keyboard('{Escape}');
    await waitFor(() => expect(more).toHaveFocus());
  });

  it('leads along the bar of a window by arrow keys, and to the message of a piece', async () => {
    listed(tea);
    spoken({ id: 1, content: 'Which tea?' }, { id: 2, content: 'Green tea.' });
    const user = userEvent.setup();
    renderAt('/conversations?id=tea&tab=window', <ConversationsPage />);
    const bar = await screen.findByRole('toolbar', { name: 'What the window holds' });
    const [first, second] = within(bar).getAllByRole('button');
    first?.focus();
    await user.keyboard('{ArrowRight}');
    expect(second).toHaveFocus();
    await user.keyboard('{Enter}');
    await waitFor(() => expect(document.querySelector('article[data-chosen]')).toHaveTextContent('Green tea.'));
  });

  it.each([
    ['a/b %?', 'a%2Fb%20%25%3F'],
    ['search', '%73earch'],
    ['node-memory', '%6eode-memory'],
  ])('asks about a conversation that is called %s', (id, path) => {
    expect(encoded(id)).toBe(path);
  });
});

import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import type { Attachment } from '@/shared/data/files/files';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { FileList } from './FileList';

const photo: Attachment = {
  name: 'abc.png',
  filename: null,
  link: '/api/conversations/tea/attachments/abc.png',
  mime_type: 'image/png',
  bytes: 81_234,
  conversation_id: 'tea',
  message_id: 1,
  created_at: '2026-11-21T10:00:00.000Z',
};
const film: Attachment = {
  ...photo,
  name: 'def.mp4',
  filename: 'film\u202e4pm.exe',
  mime_type: 'video/mp4',
  conversation_id: 'cake',
};
const memories = {
  name: 'memories.json',
  link: '/api/files/memories.json',
  mime_type: 'application/json',
  bytes: 12,
  modified_at: '2026-11-21T10:00:00.000Z',
};

beforeEach(() => {
  server.use(
    http.get('*/api/files', () => HttpResponse.json({ project: [memories], attachments: [film, photo], next: null })),
    http.get('*/api/conversations/tea/attachments', () => HttpResponse.json({ results: [photo], next: null })),
    http.get('*/api/conversations/tea/attachments/abc.png', () => HttpResponse.arrayBuffer(new ArrayBuffer(8))),
    http.get('*/api/files/memories.json', ({ request }) => {
      expect(new URL(request.url).search).toBe('?user_id=user&project=default');
      return HttpResponse.json([{ memory: '<b>tea</b>' }]);
    }),
  );
});

test('files stand below where they come from', async () => {
  renderAt('/?conversation=tea', <FileList />);
  const chat = await screen.findByRole('region', { name: 'This chat' });
  expect(await within(chat).findByRole('button')).toHaveTextContent(/PNG picture81.2 kB/);
  expect(within(screen.getByRole('region', { name: 'Project' })).getByRole('button')).toHaveTextContent(
    'memories.json',
  );
  const others = within(screen.getByRole('region', { name: 'Other chats' })).getAllByRole('button');
  expect(others.map(button => button.textContent)).toEqual([expect.stringContaining('filmU+202E4pm.exe')]);
});

test('a text is shown as it is', async () => {
  renderAt('/', <FileList />);
  await userEvent.click(await screen.findByRole('button', { name: /memories.json/ }));
  const dialog = await screen.findByRole('dialog');
  await waitFor(() => {
    expect(dialog).toHaveTextContent('[{"memory":"<b>tea</b>"}]'); // in one piece, or highlighted in several
  });
  expect(screen.getByRole('button', { name: 'Download' })).toBeEnabled();
});

test('without files it says so', async () => {
  server.use(http.get('*/api/files', () => HttpResponse.json({ project: [], attachments: [], next: null })));
  renderAt('/', <FileList />);
  expect(await screen.findByText('No files yet')).toBeVisible();
});

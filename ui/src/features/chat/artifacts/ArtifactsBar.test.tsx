import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { renderAt } from '@/shared/testing/render';
import { server } from '@/shared/testing/server';
import { ArtifactsBar } from './ArtifactsBar';

const NAME = 'Agent Memory Enabled';

test('the sign of memory is there only while it is on, left of the files', async () => {
  renderAt('/', <ArtifactsBar />);
  expect(await screen.findByRole('button', { name: 'Files' })).toBeVisible();
  expect(screen.queryByRole('button', { name: NAME })).not.toBeInTheDocument();
  localStorage.setItem('memoryEnabled', 'true');
  window.dispatchEvent(new Event('memoryChanged'));
  await waitFor(() =>
    expect(screen.getAllByRole('button').map(button => button.getAttribute('aria-label'))).toEqual([NAME, 'Files']),
  );
  const sign = screen.getByRole('button', { name: NAME }).querySelector('svg');
  expect([sign?.getAttribute('width'), sign?.style.color]).toEqual(['24', 'var(--indicator)']);
});

test('it opens the drawer, which asks for the memories each time', async () => {
  let asked = 0;
  localStorage.setItem('memoryEnabled', 'true');
  server.use(
    http.get('*/api/memories/user', () => {
      asked += 1;
      return HttpResponse.json({ results: [], total: 0 });
    }),
  );
  renderAt('/', <ArtifactsBar />);
  for (const time of [1, 2]) {
    await userEvent.click(await screen.findByRole('button', { name: NAME }));
    expect(await screen.findByRole('dialog', { name: 'Project Long Term Memory' })).toBeVisible();
    await waitFor(() => expect(asked).toBe(time));
    await userEvent.click(screen.getByRole('button', { name: 'Close' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
  }
});

test('the sign tells its name to the keyboard, and opens the drawer', async () => {
  localStorage.setItem('memoryEnabled', 'true');
  server.use(http.get('*/api/memories/user', () => HttpResponse.json({ results: [], total: 0 })));
  renderAt('/', <ArtifactsBar />);
  (await screen.findByRole('button', { name: 'Files' })).focus();
  await userEvent.keyboard('{Shift>}{Tab}{/Shift}');
  expect(await screen.findByRole('button', { name: NAME })).toHaveFocus();
  expect(await screen.findByRole('tooltip', { name: NAME })).toBeVisible();
  await userEvent.keyboard('{Enter}');
  expect(await screen.findByRole('dialog', { name: 'Project Long Term Memory' })).toBeVisible();
});

import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { RunShort } from '@/shared/data/runs/run';
import { renderAt } from '@/shared/testing/render';
import { MemoriesUsed } from './MemoriesUsed';

const nuts = { id: 'mem_1', text: 'Allergic to nuts', fits: true };
const violin = { id: 'mem_2', text: 'Plays the violin', fits: false };
const graz = { id: 'mem_3', text: 'Lives in Graz', fits: false };

async function opened(label: string, memories: RunShort['memories']) {
  renderAt('/', <MemoriesUsed memories={memories} />);
  await userEvent.click(screen.getByRole('button', { name: label }));
  return within(await screen.findByRole('dialog', { name: label }));
}

test('what fits the question is shown, and what else was given is folded', async () => {
  const dialog = await opened('1 fit · 2 more given', [nuts, violin, graz]);
  expect(dialog.getByText('Memories that fit the question')).toBeVisible();
  expect(dialog.getByRole('link', { name: 'Allergic to nuts' })).toHaveAttribute('href', '/memories?id=mem_1');
  expect(dialog.getByText('Plays the violin')).not.toBeVisible();
  await userEvent.click(dialog.getByText(/^2 more given/));
  expect(dialog.getByText('Plays the violin')).toBeVisible();
});

test('where nothing fits, that is said, and what was given is listed', async () => {
  const dialog = await opened('no memory fits · 2 more given', [violin, graz]);
  expect(dialog.getByText('None fits the question')).toBeVisible();
  expect(dialog.getByText('Lives in Graz')).toBeVisible();
});

test('where all fit, they are counted alone', async () => {
  await opened('1 memory', [nuts]);
  expect(screen.queryByText(/more given/)).not.toBeInTheDocument();
});

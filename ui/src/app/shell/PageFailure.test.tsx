import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { createMemoryRouter, RouterProvider } from 'react-router';
import { newQueryClient } from '@/shared/api/queries';
import { PageFailure } from './PageFailure';

function fail(message: string) {
  vi.spyOn(console, 'error').mockImplementation(() => undefined); // the router tells of it there, too
  const lazy = () => Promise.reject(new TypeError(message));
  const router = createMemoryRouter([
    { errorElement: <PageFailure />, hydrateFallbackElement: <></>, children: [{ path: '/', lazy }] },
  ]);
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={newQueryClient()}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>,
  );
}

test('a page whose code did not come names the likely causes, not the file', async () => {
  fail('Failed to fetch dynamically imported module: http://here/assets/RunsPage-x1.js');
  expect(await screen.findByRole('alert')).toHaveTextContent('The server cannot be reached, or it was updated');
  expect(screen.queryByText(/assets/)).toBeNull();
});

test('any other failure says what it was', async () => {
  fail('it is odd');
  expect(await screen.findByRole('alert')).toHaveTextContent('it is odd');
});

import { MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { createBrowserRouter, RouterProvider } from 'react-router';
import { newQueryClient } from '../api/queries';

/** The element as the app would show it at `address`, with all that pages rely on. */
export function renderAt(address: string, element: ReactNode) {
  const queries = newQueryClient();
  queries.setDefaultOptions({ queries: { retry: false } });
  window.history.replaceState(null, '', address);
  const router = createBrowserRouter([{ path: '*', element }]);
  const view = render(
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        <ModalsProvider>
          <Notifications />
          <RouterProvider router={router} />
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { ...view, router };
}

import { MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { RouterProvider } from 'react-router';
import { newQueryClient } from '@/shared/api/queries';
import { styleNonce } from './nonce';
import { Notices } from './Notices';
import { router } from './routes';
import { AccessGate } from './shell/AccessGate';
import { Waiting } from './shell/Waiting';
import { theme, variables } from './theme';
import { ThemeColour } from './ThemeColour';

const JoinPage = lazy(async () => ({ default: (await import('@/features/signIn/JoinPage')).JoinPage }));
const isJoining = window.location.pathname.endsWith('/join');

export function App() {
  const [queries] = useState(newQueryClient);
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={variables}
      getStyleNonce={styleNonce}
    >
      <ThemeColour />
      <QueryClientProvider client={queries}>
        <ModalsProvider>
          <Notices />
          {isJoining ? (
            <Suspense fallback={<Waiting />}>
              <JoinPage />
            </Suspense>
          ) : (
            <AccessGate>
              <RouterProvider router={router} />
            </AccessGate>
          )}
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
}

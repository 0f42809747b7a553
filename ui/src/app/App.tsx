import { MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { RouterProvider } from 'react-router';
import { serverUrl } from '@/shared/api/client';
import { newQueryClient } from '@/shared/api/queries';
import { contrast } from './contrast';
import { styleNonce } from './nonce';
import { router } from './routes';
import { KeyGate } from './shell/KeyGate';
import { Waiting } from './shell/Waiting';
import { theme } from './theme';

const JoinPage = lazy(async () => ({ default: (await import('@/features/join/JoinPage')).JoinPage }));

/** Whoever comes by the link of an invitation is asked for no key: the link stands for one. */
const isInvited = window.location.pathname === `${new URL(serverUrl).pathname.replace(/\/$/, '')}/join`;

export function App() {
  const [queries] = useState(newQueryClient);
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={contrast}
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queries}>
        <ModalsProvider>
          <Notifications position="bottom-right" />
          {isInvited ? (
            <Suspense fallback={<Waiting />}>
              <JoinPage />
            </Suspense>
          ) : (
            <KeyGate>
              <RouterProvider router={router} />
            </KeyGate>
          )}
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
}

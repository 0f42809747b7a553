import { MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { useState } from 'react';
import { RouterProvider } from 'react-router';
import { newQueryClient } from '@/shared/api/queries';
import { contrast } from './contrast';
import { styleNonce } from './nonce';
import { router } from './routes';
import { KeyGate } from './shell/KeyGate';
import { theme } from './theme';

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
          <KeyGate>
            <RouterProvider router={router} />
          </KeyGate>
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
}

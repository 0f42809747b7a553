import { createBrowserRouter } from 'react-router';
import { ChatPage } from '@/features/chat/ChatPage';
import { serverUrl } from '@/shared/api/client';
import { NoSuchPage } from './shell/NoSuchPage';
import { PageFailure } from './shell/PageFailure';
import { Shell } from './shell/Shell';
import { Waiting } from './shell/Waiting';

/** The chat comes with the first load, every other page when it is opened. */
export const router = createBrowserRouter(
  [
    {
      element: <Shell />,
      errorElement: <PageFailure />,
      hydrateFallbackElement: <Waiting />,
      children: [
        {
          errorElement: <PageFailure />,
          children: [
            { path: '/', element: <ChatPage /> },
            {
              path: '/memories',
              lazy: async () => ({ Component: (await import('@/features/memories/MemoriesPage')).MemoriesPage }),
            },
            {
              path: '/conversations',
              lazy: async () => ({
                Component: (await import('@/features/conversations/ConversationsPage')).ConversationsPage,
              }),
            },
            { path: '/runs', lazy: async () => ({ Component: (await import('@/features/runs/RunsPage')).RunsPage }) },
            {
              path: '/workflows',
              lazy: async () => ({ Component: (await import('@/features/workflows/WorkflowsPage')).WorkflowsPage }),
            },
            {
              path: '/connect',
              lazy: async () => ({ Component: (await import('@/features/connect/ConnectPage')).ConnectPage }),
            },
            {
              path: '/keys',
              lazy: async () => ({ Component: (await import('@/features/people/PeoplePage')).PeoplePage }),
            },
            {
              path: '/past',
              lazy: async () => ({ Component: (await import('@/features/past/PastPage')).PastPage }),
            },
            {
              path: '/account',
              lazy: async () => ({ Component: (await import('@/features/signIn/AccountPage')).AccountPage }),
            },
            {
              path: '/status',
              lazy: async () => ({ Component: (await import('@/features/status/StatusPage')).StatusPage }),
            },
            { path: '*', element: <NoSuchPage /> },
          ],
        },
      ],
    },
  ],
  { basename: new URL(serverUrl).pathname },
);

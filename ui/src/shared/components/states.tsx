import { Alert, Button, Center, Loader, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { IconType } from 'react-icons';
import { TbAlertCircle, TbLock } from 'react-icons/tb';
import { ApiError } from '@/shared/api/errors';
import { useRetryFailed } from '../data/failed';
import { EmptyPicture } from './EmptyPicture';

interface EmptyStateProps {
  /** What is missing, as a sign in the picture above the title. */
  Icon?: IconType;
  title: string;
  hint?: ReactNode;
  children?: ReactNode;
}

/** In place of a list without entries: what is missing, and in `children` the next step. */
export function EmptyState({ Icon, title, hint, children }: EmptyStateProps) {
  return (
    <Center mih="12rem" p="xl">
      <Stack align="center" gap="xs" maw="32rem" ta="center">
        {Icon && <EmptyPicture Icon={Icon} />}
        <Title order={2} size="h4">
          {title}
        </Title>
        {hint && (
          <Text c="dimmed" size="sm">
            {hint}
          </Text>
        )}
        {children}
      </Stack>
    </Center>
  );
}

/** `label` says what is being loaded. */
export function LoadingState({ label = 'Loading' }: { label?: string }) {
  return (
    <Center mih="12rem" role="status" aria-label={label}>
      <Loader size="sm" type="dots" aria-hidden />
    </Center>
  );
}

export const NOT_ALLOWED = 'Your role does not allow this';

interface ErrorStateProps {
  error: unknown;
  title?: string;
  onRetry?: () => void;
}

/** What failed, the server's own words about it, and a way to try again; for a role that may not, just that. */
export function ErrorState({ error, title = 'Could not load this', onRetry }: ErrorStateProps) {
  if (error instanceof ApiError && error.code === 'forbidden')
    return (
      <Alert variant="default" icon={<TbLock aria-hidden />} title={NOT_ALLOWED} role="status" m="md">
        <Text size="sm">{error.message}</Text>
      </Alert>
    );
  return (
    <Alert color="red" variant="light" icon={<TbAlertCircle aria-hidden />} title={title} role="alert" m="md">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{messageOf(error)}</Text>
        {error instanceof ApiError && error.requestId && (
          <Text size="xs" c="dimmed">
            Request {error.requestId}
          </Text>
        )}
        {onRetry && <RetryButton size="xs" onRetry={onRetry} />}
      </Stack>
    </Alert>
  );
}

/** Asks again for what failed here, and for all else on the page that has nothing to show because it failed. */
export function RetryButton({ size, onRetry }: { size: 'xs' | 'compact-xs'; onRetry: () => void }) {
  const retryFailed = useRetryFailed();
  const retry = () => {
    onRetry();
    retryFailed();
  };
  return (
    <Button size={size} variant="default" onClick={retry}>
      Try again
    </Button>
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

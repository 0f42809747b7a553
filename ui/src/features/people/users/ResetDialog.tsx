import { Button, Group, Stack, Text } from '@mantine/core';
import { ErrorState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type User, useResetUser } from '@/shared/data/users';
import { SecretDialog } from '../SecretDialog';
import { ShownLink } from './ShownLink';

/** Makes a link by which somebody who cannot sign in any more chooses a new password or passkey. */
export function ResetDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const reset = useResetUser();
  return (
    <SecretDialog title="Reset the sign-in" isMade={reset.isSuccess} onClose={onClose}>
      {reset.data ? (
        <ShownLink made={reset.data} onClose={onClose} />
      ) : (
        <Stack gap="md">
          <Text size="sm">
            Makes a link by which <Words limit={64}>{user.name}</Words> chooses a new password or passkey. Nothing
            changes until it is used.
          </Text>
          {reset.isError && <ErrorState error={reset.error} title="No link was made" />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button loading={reset.isPending} onClick={() => reset.mutate(user.id)} data-autofocus>
              Make the link
            </Button>
          </Group>
        </Stack>
      )}
    </SecretDialog>
  );
}

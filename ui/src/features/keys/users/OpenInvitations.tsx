import { Button, Group, Stack, Text } from '@mantine/core';
import { notifyFailure } from '@/shared/components/notify';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useInvitations, useWithdraw } from '@/shared/data/signIn/users';
import { reach } from './reach';

/** The invitations that nobody has taken yet. Their links are not shown again. */
export function OpenInvitations() {
  const list = useInvitations();
  const withdraw = useWithdraw();
  if (list.isPending) return <LoadingState label="Loading the invitations" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (list.data.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        None.
      </Text>
    );
  }
  return (
    <Stack component="ul" gap={4} m={0} p={0} style={{ listStyle: 'none' }}>
      {list.data.map(invitation => (
        <Group key={invitation.id} component="li" gap="xs">
          <Text size="sm">
            <Words limit={80}>{invitation.name ?? 'Anybody'}</Words>, {invitation.role},{' '}
            <Words limit={200}>{reach(invitation)}</Words>
            {invitation.expires_at && (
              <>
                , until <Time value={invitation.expires_at} />
              </>
            )}
          </Text>
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Take back the invitation of ${invitation.name ?? 'anybody'}`}
            onClick={() =>
              withdraw.mutate(invitation.id, { onError: error => notifyFailure('It was not taken back', error) })
            }
          >
            Take back
          </Button>
        </Group>
      ))}
    </Stack>
  );
}

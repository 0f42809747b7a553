import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { ErrorState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { type OpenInvitation, useInvitations, useWithdraw } from '@/shared/data/users';
import { whose } from '../grants';
import { roleOf } from './UserTable';

/** The links that were sent and not used; nothing where there are none. */
export function OpenInvitations() {
  const invitations = useInvitations();
  if (invitations.isError) return <ErrorState error={invitations.error} onRetry={() => void invitations.refetch()} />;
  if (!invitations.data?.length) return null;
  return (
    <Stack gap="xs" component="section" aria-label="Open invitations" maw="52rem">
      <Title order={2} size="h4">
        Open invitations
      </Title>
      {invitations.data.map(invitation => (
        <Row key={invitation.id} invitation={invitation} />
      ))}
    </Stack>
  );
}

function Row({ invitation }: { invitation: OpenInvitation }) {
  const { id, name, memory_user, created_by, expires_at } = invitation;
  const withdraw = useWithdraw();
  const shown = name ?? 'Anybody with the link';
  const ask = async () => {
    const message = 'Its link stops working.';
    if (await confirm({ title: 'Take this invitation back?', message, action: 'Take back' }))
      withdraw.mutate(id, { onError: error => notifyFailure('The invitation was not taken back', error) });
  };
  return (
    <Group gap="sm" wrap="nowrap" justify="space-between">
      <div>
        <Text size="sm" fw={500}>
          <Words limit={64}>{shown}</Words>
        </Text>
        <Text size="xs" c="dimmed">
          {roleOf(invitation)}, <Words limit={200}>{whose({ ...invitation, user: memory_user })}</Words>. From{' '}
          <Words limit={80}>{created_by}</Words>
          {expires_at && (
            <>
              , until <Time value={expires_at} />
            </>
          )}
        </Text>
      </div>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Take back the invitation of ${shown}`}
        loading={withdraw.isPending}
        onClick={() => void ask()}
        flex="none"
      >
        Take back…
      </Button>
    </Group>
  );
}

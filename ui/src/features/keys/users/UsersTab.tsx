import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { TbUserPlus } from 'react-icons/tb';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useUsers } from '@/shared/data/signIn/users';
import { useDialog } from '@/shared/hooks/useDialog';
import { InviteDialog } from './InviteDialog';
import { OpenInvitations } from './OpenInvitations';
import { UserTable } from './UserTable';

/** The people who sign in, and the invitations that are still open. */
export function UsersTab() {
  const list = useUsers();
  const { shown, open, close } = useDialog<'invite'>();
  if (list.isPending) return <LoadingState label="Loading the people" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <Stack gap="md">
      <Group justify="space-between" align="start" gap="xs">
        <Text size="sm" c="dimmed" maw="44rem">
          People sign in with a name. Each has memories and conversations of their own, which nobody else sees.
        </Text>
        <Button size="xs" leftSection={<TbUserPlus size={15} aria-hidden />} onClick={() => open('invite')}>
          Invite somebody
        </Button>
      </Group>
      {list.users.length === 0 ? (
        <EmptyState title="Nobody signs in yet" hint="Invite yourself first: the link makes you a name." />
      ) : (
        <UserTable users={list.users} />
      )}
      {list.hasNextPage && (
        <Anchor component="button" type="button" size="sm" onClick={() => void list.fetchNextPage()}>
          Show more people
        </Anchor>
      )}
      <Stack gap="xs" component="section" aria-label="Open invitations">
        <Title order={2} size="h5">
          Open invitations
        </Title>
        <OpenInvitations />
      </Stack>
      {shown && <InviteDialog onClose={close} />}
    </Stack>
  );
}

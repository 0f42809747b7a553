import { Anchor, Stack } from '@mantine/core';
import { TbUsers } from 'react-icons/tb';
import { useState } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useAbout } from '@/shared/data/about';
import { type Left, type User, useUsers } from '@/shared/data/users';
import { useDialog } from '@/shared/hooks/useDialog';
import { TabIntro } from '../TabIntro';
import { AdoptDialog } from './AdoptDialog';
import { EraseDialog } from './EraseDialog';
import { HoldDialog } from './HoldDialog';
import { InviteDialog } from './InviteDialog';
import { LeftDialog } from './LeftDialog';
import { OpenInvitations } from './OpenInvitations';
import { ResetDialog } from './ResetDialog';
import { TurnOnSignIn } from './TurnOnSignIn';
import { UserDialog } from './UserDialog';
import { UserTable } from './UserTable';

/** The people who sign in, and the invitations that nobody has used yet. */
export function UsersTab() {
  return useAbout().data?.needs_key === false ? <TurnOnSignIn /> : <Users />;
}

type OfUser = 'change' | 'reset' | 'adopt' | 'hold' | 'erase' | 'left';

function Users() {
  const list = useUsers();
  const { shown, open, close } = useDialog<'invite' | OfUser>();
  const [chosen, setChosen] = useState<User | null>(null);
  const [left, setLeft] = useState<Left | null>(null);
  if (list.isPending) return <LoadingState label="Loading the users" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const openFor = (name: OfUser) => (user: User, opener: HTMLElement | null) => {
    setChosen(user);
    open(name, opener);
  };
  const showLeft = (user: User, what: Left) => {
    if (!what.live_keys.length && !what.open_invitations.length) return;
    setLeft(what);
    openFor('left')(user, null);
  };
  const subject = chosen?.memory_user != null && { user: chosen.memory_user, tenant: chosen.tenant };
  return (
    <Stack gap="md">
      <TabIntro action="Invite" onAction={() => open('invite')}>
        People sign in to these pages with a password or a passkey, and see only what is theirs. Apps use keys.
      </TabIntro>
      {list.users.length === 0 ? (
        <EmptyState Icon={TbUsers} title="No users yet" hint="Invite the first one: you get a link to send." />
      ) : (
        <UserTable
          users={list.users}
          onChange={openFor('change')}
          onReset={openFor('reset')}
          onAdopt={openFor('adopt')}
          onHold={openFor('hold')}
          onErase={openFor('erase')}
          onLeft={showLeft}
        />
      )}
      {list.hasNextPage && (
        <Anchor component="button" type="button" size="sm" onClick={() => void list.fetchNextPage()}>
          Show more users
        </Anchor>
      )}
      <OpenInvitations />
      {shown === 'invite' && <InviteDialog onClose={close} />}
      {shown === 'change' && chosen && (
        <UserDialog user={chosen} onClose={close} onLeft={what => showLeft(chosen, what)} />
      )}
      {shown === 'left' && chosen && left && <LeftDialog name={chosen.name} left={left} onClose={close} />}
      {shown === 'adopt' && chosen && <AdoptDialog user={chosen} onClose={close} />}
      {shown === 'hold' && subject && <HoldDialog subject={subject} onClose={close} />}
      {shown === 'erase' && subject && <EraseDialog subject={subject} onClose={close} />}
      {shown === 'reset' && chosen && <ResetDialog user={chosen} onClose={close} />}
    </Stack>
  );
}

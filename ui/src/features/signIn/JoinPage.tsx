import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { TbUserQuestion } from 'react-icons/tb';
import { useEffect, useState } from 'react';
import { serverUrl } from '@/shared/api/client';
import { ApiError } from '@/shared/api/errors';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type Invitation, type Joined, useInvitation } from '@/shared/data/signIn';
import { FromBefore } from './FromBefore';
import { JoinForm } from './JoinForm';
import classes from './JoinPage.module.css';
import { RecoveryCodes } from './RecoveryCodes';

/** Where the link of an invitation leads: it takes a name and a password or passkey, and gives the recovery codes. */
export function JoinPage() {
  const token = useToken();
  const invitation = useInvitation(token);
  const [joined, setJoined] = useState<Joined | null>(null);
  useEffect(() => {
    document.title = 'Join · Mnemoir';
  }, []);
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        {joined ? (
          <Welcome joined={joined} isFirst={invitation.data?.by === BY_CODE} />
        ) : (
          <>
            {!token && (
              <NoInvitation title="The link is not complete" hint="Open the whole link of your invitation again." />
            )}
            {token && invitation.isPending && <LoadingState label="Loading the invitation" />}
            {invitation.isError && <Refused error={invitation.error} onRetry={() => void invitation.refetch()} />}
            {invitation.data && <Invited invitation={invitation.data} token={token} onJoined={setJoined} />}
          </>
        )}
      </div>
    </main>
  );
}

/** What stands behind "#" in the address, which is taken out of it at once. */
function useToken(): string {
  const [token, setToken] = useState(tokenInAddress);
  useEffect(() => {
    const take = () => {
      const found = tokenInAddress();
      if (found) setToken(found);
      window.history.replaceState(null, '', window.location.pathname);
    };
    take();
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, []);
  return token;
}

const tokenInAddress = () => window.location.hash.slice(1);

function Refused({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (error instanceof ApiError && error.status === 404)
    return (
      <NoInvitation
        title="This link cannot be used"
        hint="It was used, has expired, or was taken back. Ask for a new one."
      />
    );
  return <ErrorState error={error} title="The invitation could not be loaded" onRetry={onRetry} />;
}

/** In place of an invitation. Whoever used theirs comes here by opening it again, or by loading the page anew. */
function NoInvitation({ title, hint }: { title: string; hint: string }) {
  return (
    <EmptyState Icon={TbUserQuestion} title={title} hint={hint}>
      <Text size="sm">
        If you have joined already, go on to Mnemoir. Your recovery codes are not shown again: make new ones in{' '}
        <em>My account</em>.
      </Text>
      <Button component="a" href={`${serverUrl}/`} variant="default">
        Go to Mnemoir
      </Button>
    </EmptyState>
  );
}

interface InvitedProps {
  invitation: Invitation;
  token: string;
  onJoined: (joined: Joined) => void;
}

function Invited({ invitation, token, onJoined }: InvitedProps) {
  return (
    <Stack gap="md">
      <Title order={1} size="h3">
        {invitation.resets ? 'Choose a new password or passkey' : 'Join Mnemoir'}
      </Title>
      <Text size="sm" c="dimmed">
        {invitation.resets ? (
          'The current one works until then. After that, your sessions in other browsers end, too.'
        ) : (
          <Words limit={600}>{purposeOf(invitation)}</Words>
        )}
      </Text>
      <JoinForm invitation={invitation} token={token} onJoined={onJoined} />
    </Stack>
  );
}

const MAY: Record<Invitation['role'], string> = {
  read: 'You will be able to read, but not to change anything',
  write: 'You will be able to chat, with memories and conversations of your own',
  admin: 'You will be able to chat, and to manage people, keys and settings',
  operator: 'You will be able to manage the server, but not to see any contents',
};

/** What the invitation is for, in a sentence or two. */
function purposeOf({ role, operator, memory_user: user, projects, configs, tenant }: Invitation): string {
  const limits = [
    ...(user === null ? [] : [`with the memories of ${user}`]),
    ...(projects === null
      ? []
      : [`in ${projects.length === 1 ? 'the project' : 'the projects'} ${projects.join(', ')}`]),
    ...(configs === null ? [] : [`with the workflows ${configs.join(', ')}`]),
    ...(tenant === 'default' ? [] : [`in the tenant ${tenant}`]),
  ];
  const also = operator && role !== 'operator' ? ' You will also manage the whole server.' : '';
  return `${[MAY[role], ...limits].join(', ')}.${also}`;
}

/** Who invites by a code: nobody, for nobody was there. */
const BY_CODE = 'terminal';

function Welcome({ joined: { user, recovery_codes: codes }, isFirst }: { joined: Joined; isFirst: boolean }) {
  return (
    <Stack gap="md">
      <Title order={1} size="h3">
        Welcome, <Words limit={64}>{user.name}</Words>
      </Title>
      <RecoveryCodes codes={codes} />
      {isFirst && <FromBefore user={user} />}
      {/* links of the browser: the page begins anew, as this user */}
      <Group gap="xs" justify="flex-end">
        {user.role === 'admin' && (
          <Button component="a" href={`${serverUrl}/keys?part=keys`} variant="default">
            Make keys for apps
          </Button>
        )}
        <Button component="a" href={`${serverUrl}/`}>
          I have saved them
        </Button>
      </Group>
    </Stack>
  );
}

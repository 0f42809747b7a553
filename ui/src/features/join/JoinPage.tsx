import { Button, Center, Paper, PasswordInput, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { serverUrl } from '@/shared/api/client';
import { RecoveryCodes } from '@/shared/components/RecoveryCodes';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { type Invitation, useInvitation, useJoin } from '@/shared/data/signIn/auth';
import { knowsPasskeys } from '@/shared/data/signIn/passkeys';

const LEAST_PASSWORD = 10; // characters

/** The token of the link, which does not stay in the address: it would be in the history of the browser. */
function takenToken(): string {
  const token = decodeURIComponent(window.location.hash.slice(1));
  window.history.replaceState(null, '', window.location.pathname);
  return token;
}

/** What the link of an invitation leads to: a name, a password or passkey, the recovery codes, and then the chat. */
export function JoinPage() {
  const [token, setToken] = useState(takenToken);
  const invitation = useInvitation(token);
  const join = useJoin();
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" maw="30rem" w="100%">
        <Stack>
          <Title order={1} size="h3">
            {invitation.data?.resets ? 'Choose anew how you sign in' : 'Welcome to Mnemoir'}
          </Title>
          {token === '' && <TokenForm onToken={setToken} />}
          {invitation.isLoading && <LoadingState label="Looking up the invitation" />}
          {invitation.isError && <ErrorState error={invitation.error} title="This link does not count any more" />}
          {invitation.data && !join.data && <JoinForm token={token} invitation={invitation.data} join={join} />}
          {join.data && <RecoveryCodes codes={join.data.recovery_codes} action="Go to the chat" onDone={toChat} />}
        </Stack>
      </Paper>
    </Center>
  );
}

const toChat = () => window.location.replace(`${serverUrl}/`);

/** For a code that was read off the terminal of the server. */
function TokenForm({ onToken }: { onToken: (token: string) => void }) {
  const [text, setText] = useState('');
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        onToken(text.trim());
      }}
    >
      <Stack>
        <TextInput
          label="Code"
          description="The one-time code in the terminal of the server, or the last part of your link."
          value={text}
          onChange={event => setText(event.currentTarget.value)}
          autoComplete="one-time-code"
          maxLength={256}
          data-autofocus
        />
        <Button type="submit" disabled={!text.trim()}>
          Continue
        </Button>
      </Stack>
    </form>
  );
}

interface JoinFormProps {
  token: string;
  invitation: Invitation;
  join: ReturnType<typeof useJoin>;
}

function JoinForm({ token, invitation, join }: JoinFormProps) {
  const [name, setName] = useState(invitation.name ?? '');
  const [way, setWay] = useState<'password' | 'passkey'>('password');
  const [password, setPassword] = useState('');
  const isShort = password.length < LEAST_PASSWORD;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    join.mutate({ token, name: name.trim(), password: way === 'password' ? password : null });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">{gist(invitation)}</Text>
        {invitation.expires_at && (
          <Text size="xs" c="dimmed">
            The link counts once, until <Time value={invitation.expires_at} />.
          </Text>
        )}
        <TextInput
          label="Name"
          description="You sign in with it."
          value={name}
          readOnly={invitation.resets}
          onChange={event => setName(event.currentTarget.value)}
          autoComplete="username"
          autoCapitalize="off"
          maxLength={80}
          data-autofocus
        />
        <SegmentedControl
          aria-label="How you sign in"
          value={way}
          onChange={setWay}
          data={[
            { value: 'password', label: 'Password' },
            { value: 'passkey', label: 'Passkey', disabled: !knowsPasskeys() },
          ]}
        />
        {way === 'password' ? (
          <PasswordInput
            label="Password"
            description={`At least ${String(LEAST_PASSWORD)} characters. A few words are easy to keep in mind.`}
            value={password}
            onChange={event => setPassword(event.currentTarget.value)}
            autoComplete="new-password"
            maxLength={512}
          />
        ) : (
          <Text size="sm" c="dimmed">
            Your device asks for your fingerprint, face or PIN. There is no password to forget.
          </Text>
        )}
        {join.isError && <ErrorState error={join.error} title="That did not work" />}
        <Button type="submit" disabled={!name.trim() || (way === 'password' && isShort)} loading={join.isPending}>
          {invitation.resets ? 'Save' : 'Join'}
        </Button>
      </Stack>
    </form>
  );
}

const MAY = {
  read: 'You may read and search',
  write: 'You may chat, and add, change and delete what is remembered of you',
  admin: 'You may do that, and manage people, keys and settings',
  operator: 'You may see how the server does, and manage its keys',
};

function gist({ role, operator, memory_user: user, projects, by, resets }: Invitation): string {
  if (resets) return 'Choose a new password, or a passkey. You are signed out everywhere else.';
  const inside =
    projects === null ? '' : `, in ${projects.length === 1 ? 'the project' : 'the projects'} ${projects.join(', ')}`;
  const whose = user === null ? '' : ` Your memories are those of “${user}”.`;
  const more = operator && role !== 'operator' ? ', and the server itself' : '';
  return `${by ? `${by} invites you. ` : ''}${MAY[role]}${more}${inside}.${whose}`;
}

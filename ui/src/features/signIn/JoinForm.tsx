import { Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { TbFingerprint } from 'react-icons/tb';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { useAuth } from '@/shared/data/access';
import { type Invitation, type Joined, useJoin } from '@/shared/data/signIn';
import { JoinWithProvider } from './JoinWithProvider';
import { SHORTEST_PASSWORD } from './passwords';

interface JoinFormProps {
  invitation: Invitation;
  token: string;
  onJoined: (joined: Joined) => void;
}

/** A name, and a password or a passkey. Somebody who was there before keeps their name. */
export function JoinForm({ invitation, token, onJoined }: JoinFormProps) {
  const [typed, setName] = useState(invitation.name ?? '');
  const [password, setPassword] = useState('');
  const auth = useAuth(true);
  const join = useJoin();
  const name = typed.trim();
  const isLong = password.length >= SHORTEST_PASSWORD;
  const joinWith = (chosen: string | null) => join.mutate({ token, name, password: chosen }, { onSuccess: onJoined });
  if (auth.isPending) return <LoadingState />;
  const passkey = auth.data?.ways.passkey;
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        if (name && isLong) joinWith(password);
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          description={invitation.resets ? undefined : 'You sign in with it.'}
          value={typed}
          readOnly={invitation.resets}
          maxLength={64}
          onChange={event => setName(event.currentTarget.value)}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
        />
        <PasswordInput
          label="Password"
          description={`At least ${SHORTEST_PASSWORD} characters. Several words are best.`}
          value={password}
          onChange={event => setPassword(event.currentTarget.value)}
          autoComplete="new-password"
        />
        <Button
          type="submit"
          disabled={!name || !isLong}
          loading={join.isPending && join.variables.password !== null}
        >
          Continue with this password
        </Button>
        <Divider label="or, without a password" />
        <Button
          variant="default"
          leftSection={<TbFingerprint size={17} aria-hidden />}
          disabled={!name || passkey?.available !== true}
          loading={join.isPending && join.variables.password === null}
          onClick={() => joinWith(null)}
        >
          Continue with a passkey
        </Button>
        {passkey?.reason && (
          <Text size="xs" c="dimmed">
            {passkey.reason}
          </Text>
        )}
        <JoinWithProvider providers={auth.data?.ways.oidc ?? []} token={token} resets={invitation.resets} />
        {join.isError && <ErrorState error={join.error} title="That did not work" />}
      </Stack>
    </form>
  );
}

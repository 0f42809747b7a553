import { Anchor, Button, Divider, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { TbFingerprint } from 'react-icons/tb';
import { serverUrl } from '@/shared/api/client';
import { type Auth, useAuth, useSignIn } from '@/shared/data/signIn/auth';
import { knowsPasskeys } from '@/shared/data/signIn/passkeys';
import { KeyDialog } from './KeyDialog';

/** Asks who calls: a person where some can sign in, else for a key. */
export function SignIn({ onAccepted }: { onAccepted: () => void }) {
  const auth = useAuth().data;
  const [withKey, setWithKey] = useState(false);
  const hasPeople = auth !== undefined && (auth.has_users || auth.ways.oidc.length > 0);
  if (!hasPeople || withKey) {
    return <KeyDialog onAccepted={onAccepted} {...(hasPeople && { onBack: () => setWithKey(false) })} />;
  }
  return (
    <Modal opened onClose={() => undefined} title="Sign in" withCloseButton={false} centered>
      <Stack>
        <NameForm onAccepted={onAccepted} />
        <OtherWays ways={auth.ways} onAccepted={onAccepted} />
        <Anchor component="button" type="button" size="sm" onClick={() => setWithKey(true)}>
          Use an API key
        </Anchor>
      </Stack>
    </Modal>
  );
}

/** Name and password, or one of the recovery codes. */
function NameForm({ onAccepted }: { onAccepted: () => void }) {
  const [name, setName] = useState('');
  const [secret, setSecret] = useState('');
  const [isRecovering, setRecovering] = useState(false);
  const signIn = useSignIn(onAccepted);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    signIn.mutate(
      isRecovering ? { way: 'recovery', name, code: secret.trim() } : { way: 'password', name, password: secret },
    );
  };
  const switchWay = () => {
    setSecret('');
    signIn.reset();
    setRecovering(!isRecovering);
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Name"
          value={name}
          onChange={event => setName(event.currentTarget.value)}
          autoComplete="username webauthn"
          autoCapitalize="off"
          maxLength={256}
          data-autofocus
        />
        {isRecovering ? (
          <TextInput
            label="Recovery code"
            description="One of the ten that you were shown. It counts once."
            value={secret}
            onChange={event => setSecret(event.currentTarget.value)}
            error={signIn.error?.message}
            autoComplete="one-time-code"
            maxLength={256}
          />
        ) : (
          <PasswordInput
            label="Password"
            value={secret}
            onChange={event => setSecret(event.currentTarget.value)}
            error={signIn.error?.message}
            autoComplete="current-password"
            maxLength={512}
          />
        )}
        <Button type="submit" disabled={!name.trim() || !secret.trim()} loading={signIn.isPending}>
          Sign in
        </Button>
        <Anchor component="button" type="button" size="sm" onClick={switchWay}>
          {isRecovering ? 'Use your password' : 'Use a recovery code'}
        </Anchor>
      </Stack>
    </form>
  );
}

function OtherWays({ ways, onAccepted }: { ways: Auth['ways']; onAccepted: () => void }) {
  const signIn = useSignIn(onAccepted);
  const reason = ways.passkey.reason ?? (knowsPasskeys() ? null : 'This browser has no passkeys here.');
  const here = encodeURIComponent(window.location.pathname + window.location.search);
  return (
    <>
      <Divider label="or" />
      <Button
        variant="default"
        leftSection={<TbFingerprint aria-hidden />}
        disabled={reason !== null}
        loading={signIn.isPending}
        onClick={() => signIn.mutate({ way: 'passkey' })}
      >
        Sign in with a passkey
      </Button>
      {reason && (
        <Text size="xs" c="dimmed">
          {reason}
        </Text>
      )}
      {signIn.error && (
        <Text size="sm" c="red" role="alert">
          {signIn.error.message}
        </Text>
      )}
      {ways.oidc.map(({ id, name }) => (
        <Button
          key={id}
          component="a"
          variant="default"
          href={`${serverUrl}/api/auth/oidc/${encodeURIComponent(id)}/start?to=${here}`}
        >
          Continue with {name}
        </Button>
      ))}
    </>
  );
}

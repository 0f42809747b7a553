import { Anchor, Button, Divider, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { TbFingerprint, TbKey, TbLifebuoy, TbLogin2 } from 'react-icons/tb';
import { Words } from '@/shared/components/Words';
import { type Auth, useAuth } from '@/shared/data/access';
import { addressOfIssuer, usePasskey, useRecover, useSignIn } from '@/shared/data/signIn';
import { KeyForm } from './KeyForm';

type Way = 'password' | 'recovery' | 'key';

interface Entering {
  onAccepted: () => void;
}

/** In front of the page until somebody signed in: by name and password, a passkey, an identity provider, or a key. */
export function SignInDialog({ onAccepted }: Entering) {
  const auth = useAuth().data;
  const [chosen, setWay] = useState<Way>('password');
  const way = auth?.has_users ? chosen : 'key';
  const naming = useState('');
  return (
    <Modal
      opened
      onClose={() => undefined}
      title={way === 'key' ? 'API key' : 'Sign in to Mnemoir'}
      withCloseButton={false}
      overlayProps={{ color: 'var(--surface-shell)', backgroundOpacity: 1 }} // hides what somebody else read
      centered
    >
      <Stack key={way} ref={beginTyping}>
        {!auth?.has_users && <Text size="sm">This server requires an API key. Ask whoever runs it for one.</Text>}
        {way === 'key' && <KeyForm onAccepted={onAccepted} />}
        {way === 'recovery' && <ByRecoveryCode naming={naming} onAccepted={onAccepted} />}
        {way === 'password' && <ByPassword naming={naming} onAccepted={onAccepted} />}
        {auth && way === 'password' && <OtherWays auth={auth} onAccepted={onAccepted} onWay={setWay} />}
        {auth?.has_users && way !== 'password' && (
          <Anchor component="button" type="button" size="sm" onClick={() => setWay('password')}>
            Sign in with name and password
          </Anchor>
        )}
      </Stack>
    </Modal>
  );
}

/** Puts the focus into the first field of another way, as the button that led there is gone. */
function beginTyping(way: HTMLElement | null) {
  way?.querySelector<HTMLElement>('[data-autofocus]')?.focus();
}

interface EnteringByName extends Entering {
  /** The name that was typed, also for another way. */
  naming: [string, (name: string) => void];
}

function ByPassword({ naming: [name, setName], onAccepted }: EnteringByName) {
  const [password, setPassword] = useState('');
  const entering = useSignIn(onAccepted);
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        entering.mutate({ name: name.trim(), password });
      }}
    >
      <Stack>
        <NameField name={name} onChange={setName} />
        <PasswordInput
          label="Password"
          value={password}
          onChange={event => setPassword(event.currentTarget.value)}
          error={entering.error?.message}
          autoComplete="current-password"
        />
        <Button type="submit" disabled={!name.trim() || !password} loading={entering.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

function ByRecoveryCode({ naming: [name, setName], onAccepted }: EnteringByName) {
  const [code, setCode] = useState('');
  const entering = useRecover(onAccepted);
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        entering.mutate({ name: name.trim(), code: code.trim() });
      }}
    >
      <Stack>
        <NameField name={name} onChange={setName} />
        <TextInput
          label="Recovery code"
          description="One of the ten that you got when you joined. It works once."
          value={code}
          onChange={event => setCode(event.currentTarget.value)}
          error={entering.error?.message}
          autoComplete="one-time-code"
          autoCapitalize="none"
          spellCheck={false}
        />
        <Button type="submit" disabled={!name.trim() || !code.trim()} loading={entering.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

function NameField({ name, onChange }: { name: string; onChange: (name: string) => void }) {
  return (
    <TextInput
      label="Name"
      value={name}
      onChange={event => onChange(event.currentTarget.value)}
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      data-autofocus
    />
  );
}

interface OtherWaysProps extends Entering {
  auth: Auth;
  onWay: (way: Way) => void;
}

function OtherWays({ auth: { ways }, onAccepted, onWay }: OtherWaysProps) {
  const passkey = usePasskey(onAccepted);
  return (
    <>
      <Divider label="or" />
      <Stack gap="xs">
        <Button
          variant="default"
          leftSection={<TbFingerprint size={17} aria-hidden />}
          disabled={!ways.passkey.available}
          loading={passkey.isPending}
          onClick={() => passkey.mutate()}
        >
          Sign in with a passkey
        </Button>
        {ways.passkey.reason !== null && (
          <Text size="xs" c="dimmed">
            {ways.passkey.reason}
          </Text>
        )}
        {passkey.isError && (
          <Text size="sm" c="red" role="alert">
            {passkey.error.message}
          </Text>
        )}
        {ways.oidc.map(({ id, name }) => (
          <Button
            key={id}
            component="a"
            href={addressOfIssuer(id)}
            variant="default"
            leftSection={<TbLogin2 size={17} aria-hidden />}
          >
            <Words limit={60}>{`Sign in with ${name}`}</Words>
          </Button>
        ))}
        <Button
          variant="subtle"
          color="gray"
          leftSection={<TbLifebuoy size={17} aria-hidden />}
          onClick={() => onWay('recovery')}
        >
          Use a recovery code
        </Button>
        <Button
          variant="subtle"
          color="gray"
          leftSection={<TbKey size={17} aria-hidden />}
          onClick={() => onWay('key')}
        >
          Use an API key instead
        </Button>
      </Stack>
    </>
  );
}

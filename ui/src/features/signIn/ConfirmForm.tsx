import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { TbFingerprint, TbLogin2 } from 'react-icons/tb';
import { Words } from '@/shared/components/Words';
import type { Auth } from '@/shared/data/access';
import { useConfirm } from '@/shared/data/account';
import { addressOfIssuer } from '@/shared/data/signIn';

interface ConfirmFormProps {
  ways: Auth['ways'] | undefined;
  onConfirmed: () => void;
}

/** Takes the password or a passkey once more; who has neither signs in again with their identity provider. */
export function ConfirmForm({ ways, onConfirmed }: ConfirmFormProps) {
  const [password, setPassword] = useState('');
  const confirming = useConfirm();
  const by = (said: string | null) => confirming.mutate(said, { onSuccess: onConfirmed });
  const isByPassword = confirming.variables !== null;
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        if (password) by(password);
      }}
    >
      <Stack>
        <Text size="sm">You signed in a while ago. Confirm that it is you before you change how you sign in.</Text>
        <PasswordInput
          label="Your password"
          value={password}
          onChange={event => setPassword(event.currentTarget.value)}
          error={isByPassword ? confirming.error?.message : undefined}
          autoComplete="current-password"
          data-autofocus
        />
        <Button type="submit" disabled={!password} loading={confirming.isPending && isByPassword}>
          Continue
        </Button>
        {ways?.passkey.available && (
          <Button
            variant="default"
            leftSection={<TbFingerprint size={17} aria-hidden />}
            loading={confirming.isPending && !isByPassword}
            onClick={() => by(null)}
          >
            Use a passkey
          </Button>
        )}
        {!isByPassword && confirming.isError && (
          <Text size="sm" c="red" role="alert">
            {confirming.error.message}
          </Text>
        )}
        {ways?.oidc.map(({ id, name }) => (
          <Button
            key={id}
            component="a"
            href={addressOfIssuer(id)}
            variant="default"
            leftSection={<TbLogin2 size={17} aria-hidden />}
          >
            <Words limit={60}>{`Sign in again with ${name}`}</Words>
          </Button>
        ))}
      </Stack>
    </form>
  );
}

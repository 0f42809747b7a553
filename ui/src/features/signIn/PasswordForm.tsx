import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useChangePassword } from '@/shared/data/account';
import { SHORTEST_PASSWORD } from './passwords';

/** Changes the password. Whoever has none, as they joined with a passkey, leaves the first field empty. */
export function PasswordForm({ name }: { name: string }) {
  const [old, setOld] = useState('');
  const [chosen, setChosen] = useState('');
  const change = useChangePassword();
  const isLong = chosen.length >= SHORTEST_PASSWORD;
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        if (!isLong) return;
        change.mutate(
          { old, new: chosen },
          {
            onSuccess: () => {
              setOld('');
              setChosen('');
            },
          },
        );
      }}
    >
      <Stack gap="sm" maw="24rem">
        {/* for programs that keep passwords */}
        <input type="text" name="username" value={name} readOnly hidden autoComplete="username" />
        <PasswordInput
          label="Password of now"
          description="Leave it empty if you have none yet."
          value={old}
          onChange={event => setOld(event.currentTarget.value)}
          error={change.error?.message}
          autoComplete="current-password"
        />
        <PasswordInput
          label="New password"
          description={`At least ${SHORTEST_PASSWORD} characters.`}
          value={chosen}
          onChange={event => setChosen(event.currentTarget.value)}
          autoComplete="new-password"
        />
        <Button type="submit" size="xs" w="fit-content" disabled={!isLong} loading={change.isPending}>
          Change the password
        </Button>
        {change.isSuccess && (
          <Text size="sm" role="status">
            The password was changed. Your other sessions have ended.
          </Text>
        )}
      </Stack>
    </form>
  );
}

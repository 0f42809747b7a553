import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { type AskAgain, useChangePassword } from '@/shared/data/account';
import { SHORTEST_PASSWORD } from './passwords';

interface PasswordFormProps {
  name: string;
  askAgain: AskAgain;
}

/** Changes the password, or sets the first one of whoever joined without. */
export function PasswordForm({ name, askAgain }: PasswordFormProps) {
  const [chosen, setChosen] = useState('');
  const change = useChangePassword(askAgain);
  const isLong = chosen.length >= SHORTEST_PASSWORD;
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        if (!isLong) return;
        change.mutate(chosen, { onSuccess: () => setChosen('') });
      }}
    >
      <Stack gap="sm" maw="24rem">
        {/* for programs that keep passwords */}
        <input type="text" name="username" value={name} readOnly hidden autoComplete="username" />
        <PasswordInput
          label="New password"
          description={`At least ${SHORTEST_PASSWORD} characters.`}
          value={chosen}
          onChange={event => setChosen(event.currentTarget.value)}
          error={change.error?.message}
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

import { Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { serverUrl } from '@/shared/api/client';
import { ApiError } from '@/shared/api/errors';
import { Section } from '@/shared/components/Section';
import { ErrorState } from '@/shared/components/states';
import { useCheckCode, usePrintCode } from '@/shared/data/signIn';
import { AppsWithoutKey } from '../AppsWithoutKey';

/** Of a server that lets everybody in: what changes once people sign in, and the beginning of it. */
export function TurnOnSignIn() {
  const print = usePrintCode();
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Section title="Nobody signs in now">
        <Stack gap="sm" align="flex-start">
          <Text size="sm">
            Whoever reaches this server reads and changes everything. With sign-in, each person has memories and
            conversations of their own, and each app needs a key.
          </Text>
          {print.isSuccess ? (
            <CodeForm />
          ) : (
            <Button size="xs" loading={print.isPending} onClick={() => print.mutate()}>
              Turn on sign-in…
            </Button>
          )}
          {print.isError && <ErrorState error={print.error} title="No code was printed" />}
        </Stack>
      </Section>
      <AppsWithoutKey hint="You make their keys here as soon as you have signed in." />
    </SimpleGrid>
  );
}

/** Goes on where invitations lead, for the code is one. A wrong one stays at its field, to be put right. */
function CodeForm() {
  const [code, setCode] = useState('');
  const check = useCheckCode();
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        const typed = code.trim();
        check.mutate(typed, {
          onSuccess: () => window.location.assign(`${serverUrl}/join#${encodeURIComponent(typed)}`),
        });
      }}
    >
      <Stack gap="sm">
        <Text size="sm" role="status">
          The server has printed a code in its terminal. It works for ten minutes, and whoever enters it becomes the
          first admin.
        </Text>
        <Group align="flex-end" gap="xs">
          <TextInput
            label="Code"
            value={code}
            onChange={event => {
              setCode(event.currentTarget.value);
              check.reset();
            }}
            error={check.error && wrong(check.error)}
            autoComplete="one-time-code"
            autoCapitalize="none"
            spellCheck={false}
          />
          <Button type="submit" disabled={!code.trim()} loading={check.isPending}>
            Continue
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function wrong(error: Error): string {
  if (!(error instanceof ApiError && error.status === 404)) return error.message;
  return 'That code does not match. Check it in the terminal: after a few wrong tries it stops working.';
}

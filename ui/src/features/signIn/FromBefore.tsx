import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import type { Joined } from '@/shared/data/signIn';
import { useAdopt, useAdoptable } from '@/shared/data/users';

/** Asks an admin who just joined whose the memories and chats of before anybody signed in are; nothing without any. */
export function FromBefore({ user }: { user: Joined['user'] }) {
  const [isLeft, setIsLeft] = useState(false);
  const adopt = useAdopt();
  const found = useAdoptable(user.id, !adopt.data);
  if (isLeft) {
    return (
      <Text size="sm" c="dimmed" role="status">
        They stay where they are. <em>People and keys</em> gives them to somebody later.
      </Text>
    );
  }
  if (adopt.data) {
    return (
      <Text size="sm" role="status">
        They are yours now.
      </Text>
    );
  }
  if (!found.data || found.data.memories + found.data.conversations === 0) return null;
  const { from_user: from, memories, conversations } = found.data;
  return (
    <Alert color="blue" variant="light" title="From before sign-in">
      <Stack gap="xs">
        <Text size="sm">This server has {inWords(memories, conversations)} from before sign-in. Whose are they?</Text>
        <Group gap="xs">
          <Button size="xs" loading={adopt.isPending} onClick={() => adopt.mutate({ id: user.id, from })}>
            They are mine
          </Button>
          <Button size="xs" variant="default" disabled={adopt.isPending} onClick={() => setIsLeft(true)}>
            Leave them
          </Button>
        </Group>
        {adopt.isError && <ErrorState error={adopt.error} title="Nothing was given" />}
      </Stack>
    </Alert>
  );
}

function inWords(memories: number, chats: number): string {
  const parts = [
    ...(memories ? [memories === 1 ? '1 memory' : `${memories.toLocaleString()} memories`] : []),
    ...(chats ? [chats === 1 ? '1 chat' : `${chats.toLocaleString()} chats`] : []),
  ];
  return parts.join(' and ');
}

import { Autocomplete, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { useAbout } from '@/shared/data/about';
import { type User, useAdopt, useMemoryUsers } from '@/shared/data/users';

/** Gives somebody the memories and conversations of before they signed in. */
export function AdoptDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const byDefault = useAbout().data?.user ?? '';
  const known = useMemoryUsers().data ?? [];
  const [typed, setTyped] = useState<string | null>(null);
  const adopt = useAdopt();
  const from = (typed ?? byDefault).trim();
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Give memories to ${user.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {adopt.data ? (
        <Stack gap="md">
          <Text size="sm" role="status">
            <Words limit={400}>{told(adopt.data)}</Words>
          </Text>
          <Button w="fit-content" ml="auto" onClick={onClose}>
            Close
          </Button>
        </Stack>
      ) : (
        <form
          onSubmit={event => {
            event.preventDefault();
            if (from) adopt.mutate({ id: user.id, from });
          }}
        >
          <Stack gap="md">
            <Text size="sm">
              Memories and conversations stored under another name, such as those from before sign-in, become those of{' '}
              <Words limit={64}>{user.name}</Words>. They must have none of their own yet.
            </Text>
            <Autocomplete
              label="Kept under"
              data={known.filter(name => name !== user.memory_user).slice(0, 50)}
              value={typed ?? byDefault}
              onChange={setTyped}
              maxLength={256}
              autoComplete="off"
            />
            {adopt.isError && <ErrorState error={adopt.error} title="Nothing was given" />}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" disabled={!from} loading={adopt.isPending} data-autofocus>
                Give
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

interface Given {
  from_user: string;
  memories: readonly string[];
  conversations: readonly string[];
}

/** What was given, in a sentence. */
function told({ from_user: from, memories, conversations }: Given): string {
  const where = (what: string, projects: readonly string[]) =>
    projects.length ? [`${what} of ${projects.join(', ')}`] : [];
  const given = [...where('the memories', memories), ...where('the conversations', conversations)];
  return given.length ? `Given: ${given.join('; ')}.` : `Nothing is kept under ${from}.`;
}

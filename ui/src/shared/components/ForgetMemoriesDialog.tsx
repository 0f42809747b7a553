import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { useForgetMemories } from '@/shared/data/memories/change';
import type { Scope } from '@/shared/data/scope';
import { ErrorState } from './states';
import { Words } from './Words';

interface DialogProps {
  owner: Scope;
  onClose: () => void;
}

/** Asks for the user's name before all memories go for good. */
export function ForgetMemoriesDialog({ owner, onClose }: DialogProps) {
  const [typed, setTyped] = useState('');
  const forget = useForgetMemories(owner);
  const isSure = typed.trim() === owner.user;
  const go = () =>
    forget.mutate(undefined, {
      onSuccess: ({ deleted }) => {
        notifications.show({ message: `${deleted} ${deleted === 1 ? 'memory' : 'memories'} deleted` });
        onClose();
      },
    });
  return (
    <Modal opened onClose={onClose} title="Delete all memories" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (isSure) go();
        }}
      >
        <Stack gap="md">
          <Text size="sm" component="div">
            This deletes all memories of <Words>{owner.user}</Words> in project <Words>{owner.project}</Words> for
            good, with their history, the deleted ones and the traces of runs. Conversations stay.
          </Text>
          <TextInput
            label="Type the user name to confirm"
            placeholder={owner.user}
            autoComplete="off"
            data-autofocus
            value={typed}
            onChange={event => setTyped(event.currentTarget.value)}
          />
          {forget.isError && <ErrorState error={forget.error} title="Could not delete all memories" />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color="red" disabled={!isSure} loading={forget.isPending}>
              Delete all memories
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

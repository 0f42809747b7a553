import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type Subject, useHold } from '@/shared/data/subjects';

interface HoldDialogProps {
  subject: Subject;
  onClose: () => void;
}

/** Takes the reason for which nothing of a person may be deleted. */
export function HoldDialog({ subject, onClose }: HoldDialogProps) {
  const [reason, setReason] = useState('');
  const hold = useHold();
  return (
    <Modal opened onClose={onClose} title="Legal hold" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (reason.trim()) hold.mutate({ ...subject, reason: reason.trim() }, { onSuccess: onClose });
        }}
      >
        <Stack gap="md">
          <Text size="sm">
            Nothing of <Words limit={200}>{subject.user}</Words> is deleted by anybody, nor by its age, until the hold
            is lifted.
          </Text>
          <TextInput
            label="Reason"
            maxLength={500}
            autoComplete="off"
            data-autofocus
            value={reason}
            onChange={event => setReason(event.currentTarget.value)}
          />
          {hold.isError && <ErrorState error={hold.error} title="The hold was not set" />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!reason.trim()} loading={hold.isPending}>
              Hold
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

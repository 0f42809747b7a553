import { Button, Modal, Stack, Text } from '@mantine/core';
import { Words } from '@/shared/components/Words';
import type { Left } from '@/shared/data/users';
import { LeftKeys } from './LeftKeys';

interface LeftDialogProps {
  name: string;
  left: Left;
  onClose: () => void;
}

/** What goes on after somebody was changed, disabled or removed, to be ended here. */
export function LeftDialog({ name, left, onClose }: LeftDialogProps) {
  return (
    <Modal opened onClose={onClose} title="What still works" closeButtonProps={{ 'aria-label': 'Close' }} size="lg">
      <Stack gap="md">
        <Text size="sm">
          These keys and invitations were made by <Words limit={64}>{name}</Words>, or are theirs. They open what they
          opened before, until you end them.
        </Text>
        <LeftKeys left={left} />
        <Button w="fit-content" ml="auto" variant="default" onClick={onClose}>
          Close
        </Button>
      </Stack>
    </Modal>
  );
}

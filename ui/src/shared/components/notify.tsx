import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { messageOf } from './states';

const UNDO_MS = 10_000;

/** Says that something was done, with a button that takes it back. */
export function notifyUndo(message: string, undo: () => Promise<unknown>): void {
  let isAsked = false;
  const id = notifications.show({
    autoClose: UNDO_MS,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            if (isAsked) return; // a double click, while the notice fades
            isAsked = true;
            notifications.hide(id);
            undo().catch((error: unknown) => notifyFailure('Could not undo that', error));
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  });
}

/** Says that something failed, for actions that have no place of their own to say so. */
export function notifyFailure(title: string, error: unknown): void {
  notifications.show({ color: 'red', title, message: messageOf(error), role: 'alert' });
}

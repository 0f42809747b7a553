import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';

interface Question {
  title: string;
  message: string;
  /** What the button that goes on says: "Delete", "Forget everything". */
  action: string;
}

/** Asks before what cannot be undone; resolves to whether to go on. */
export function confirm({ title, message, action }: Question): Promise<boolean> {
  return new Promise(resolve => {
    modals.openConfirmModal({
      title,
      closeButtonProps: { 'aria-label': 'Close' },
      children: <Text size="sm">{message}</Text>,
      labels: { confirm: action, cancel: 'Cancel' },
      confirmProps: { color: 'red.8' },
      onConfirm: () => resolve(true),
      onCancel: () => resolve(false),
      onClose: () => resolve(false),
    });
  });
}

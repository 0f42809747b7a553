import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';

interface Question {
  title: string;
  message: string;
  /** What the button that goes on says: "Delete", "Delete all memories". */
  action: string;
}

/** Asks before what cannot be undone; resolves to whether to go on. */
export function confirm({ title, message, action }: Question): Promise<boolean> {
  const opener = openerNow();
  return new Promise(resolve => {
    modals.openConfirmModal({
      title,
      closeButtonProps: { 'aria-label': 'Close' },
      children: <Text size="sm">{message}</Text>,
      labels: { confirm: action, cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => resolve(true),
      onCancel: () => resolve(false),
      onClose: () => resolve(false),
      returnFocus: false,
      onExitTransitionEnd: () => opener?.focus(),
    });
  });
}

/** What has the focus; of a menu, which will be gone, the button that it belongs to. */
function openerNow(): HTMLElement | null {
  const { activeElement } = document;
  const menu = activeElement?.closest('[role="menu"]');
  const opener = menu ? document.querySelector(`[aria-controls="${CSS.escape(menu.id)}"]`) : activeElement;
  return opener instanceof HTMLElement ? opener : null;
}

import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

interface SecretDialogProps {
  title: string;
  /** The secret is there: only the button that is meant for it closes the dialog. */
  isMade: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog that makes a secret and then shows it, which nobody can lose by accident. */
export function SecretDialog({ title, isMade, onClose, children }: SecretDialogProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      withCloseButton={!isMade}
      closeOnClickOutside={!isMade}
      closeOnEscape={!isMade}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {children}
    </Modal>
  );
}

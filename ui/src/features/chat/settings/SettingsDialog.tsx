import { Modal } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { LoadingState } from '@/shared/components/states';

const SettingsForm = lazy(async () => ({ default: (await import('./SettingsForm')).SettingsForm }));

interface SettingsDialogProps {
  opened: boolean;
  onClose: () => void;
  /** It is gone from the screen; what opened it has the focus again. */
  onClosed: () => void;
}

/** What this browser does: whether it remembers, for whom and in which project, with which key, and how it looks. */
export function SettingsDialog({ opened, onClose, onClosed }: SettingsDialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={onClosed}
      returnFocus={false}
      title="Settings"
      closeButtonProps={{ 'aria-label': 'Close' }}
      styles={{ title: { fontWeight: 600 } }}
    >
      <Suspense fallback={<LoadingState />}>
        <SettingsForm />
      </Suspense>
    </Modal>
  );
}

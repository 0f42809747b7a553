import { Modal } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { LoadingState } from '@/shared/components/states';

const SettingsForm = lazy(async () => ({ default: (await import('./SettingsForm')).SettingsForm }));

interface SettingsDialogProps {
  opened: boolean;
  onClose: () => void;
}

/** What this browser does: whether it remembers, for whom and in which project, with which key, and how it looks. */
export function SettingsDialog({ opened, onClose }: SettingsDialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
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

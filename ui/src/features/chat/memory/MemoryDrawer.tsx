import { Drawer } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { LoadingState } from '@/shared/components/states';
import classes from './memory.module.css';

const MemoryPanel = lazy(async () => ({ default: (await import('./MemoryPanel')).MemoryPanel }));

interface MemoryDrawerProps {
  opened: boolean;
  onClose: () => void;
}

/** What is known of the user in the project, from the left edge of the screen. */
export function MemoryDrawer({ opened, onClose }: MemoryDrawerProps) {
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="left"
      size="min(500px, 90vw)"
      title="Project Long Term Memory"
      closeButtonProps={{ 'aria-label': 'Close' }}
      classNames={{ content: classes.content, header: classes.header, title: classes.title, body: classes.body }}
    >
      <Suspense fallback={<LoadingState />}>
        <MemoryPanel />
      </Suspense>
    </Drawer>
  );
}

import { Drawer } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { LoadingState } from '@/shared/components/states';
import classes from './artifacts.module.css';
import { useArtifactsList } from './artifactsList';

const FileList = lazy(async () => ({ default: (await import('./FileList')).FileList }));

/** At the right: the project's files and the attachments of the chat, while its bar says that they are shown. */
export function ArtifactsPane() {
  const { isWide, opened, close } = useArtifactsList();
  if (!isWide)
    return (
      <Drawer
        opened={opened}
        onClose={close}
        position="right"
        title="Files"
        size="min(22rem, 90vw)"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Files />
      </Drawer>
    );
  return opened ? (
    <aside className={classes.pane} aria-label="Files">
      <Files />
    </aside>
  ) : null;
}

function Files() {
  return (
    <Suspense fallback={<LoadingState label="Loading files" />}>
      <FileList />
    </Suspense>
  );
}

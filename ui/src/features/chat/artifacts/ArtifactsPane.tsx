import { Drawer } from '@mantine/core';
import classes from './artifacts.module.css';
import { useArtifactsList } from './artifactsList';
import { FileList } from './FileList';

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
        <FileList />
      </Drawer>
    );
  return opened ? (
    <aside className={classes.pane} aria-label="Files">
      <FileList />
    </aside>
  ) : null;
}

import { Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import classes from './artifacts.module.css';
import { artifactsList } from './artifactsList';
import { FileList } from './FileList';

const WIDE = '(min-width: 75rem)'; // where rail, thread and pane have room beside each other

/** At the right: the project's files and the attachments of the chat, while its bar says that they are shown. */
export function ArtifactsPane() {
  const isWide = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false });
  const opened = artifactsList.use();
  if (!isWide)
    return (
      <Drawer
        opened={opened}
        onClose={artifactsList.close}
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

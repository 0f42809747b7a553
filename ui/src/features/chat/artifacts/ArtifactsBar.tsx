import { Tooltip, UnstyledButton } from '@mantine/core';
import { TbFiles } from 'react-icons/tb';
import { useArtifactsList } from './artifactsList';
import classes from './artifacts.module.css';
import { MemoryIndicator } from './MemoryIndicator';

/** The top bar of the artifacts pane: whether memory is on, and the button that opens and closes the list of files. */
export function ArtifactsBar() {
  const { opened, toggle } = useArtifactsList();
  return (
    <div className={classes.bar}>
      <MemoryIndicator />
      <Tooltip label="Files">
        <UnstyledButton className={classes.icon ?? ''} aria-label="Files" aria-expanded={opened} onClick={toggle}>
          <TbFiles size={24} aria-hidden />
        </UnstyledButton>
      </Tooltip>
    </div>
  );
}

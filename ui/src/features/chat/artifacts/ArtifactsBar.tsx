import { Tooltip, UnstyledButton } from '@mantine/core';
import { useRef } from 'react';
import { TbFiles } from 'react-icons/tb';
import { useArtifactsList } from './artifactsList';
import classes from './artifacts.module.css';
import { MemoryIndicator } from './MemoryIndicator';
import { MemoryOffSign } from './MemoryOffSign';

/** The top bar of the artifacts pane: whether memory is on or off, and the button that opens and closes the list of files. */
export function ArtifactsBar() {
  const { opened, toggle } = useArtifactsList();
  const bar = useRef<HTMLDivElement>(null);
  // the sign gives way to the card, which takes over the focus
  const focusCard = () => requestAnimationFrame(() => bar.current?.querySelector('button')?.focus());
  return (
    <div ref={bar} className={classes.bar}>
      <MemoryIndicator />
      <MemoryOffSign onSwitched={focusCard} />
      <Tooltip label="Files">
        <UnstyledButton className={classes.icon ?? ''} aria-label="Files" aria-expanded={opened} onClick={toggle}>
          <TbFiles size={24} aria-hidden />
        </UnstyledButton>
      </Tooltip>
    </div>
  );
}

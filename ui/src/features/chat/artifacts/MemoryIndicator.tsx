import { Tooltip, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import { BiMemoryCard } from 'react-icons/bi';
import { useSettings } from '@/shared/settings/settings';
import { MemoryDrawer } from '../memory/MemoryDrawer';
import { useMemoryPin } from '../memory/memoryPin';
import classes from './artifacts.module.css';

const NAME = 'Agent Memory Enabled';

/** Shows that memory is on, and opens what is known, or unpins it. Not there while it is off. */
export function MemoryIndicator() {
  const { memoryEnabled } = useSettings();
  const [opened, drawer] = useDisclosure(false);
  const { isDocked, undock } = useMemoryPin();
  const sign = useRef<HTMLButtonElement>(null);
  const wasDocked = useRef(isDocked);
  useEffect(() => {
    // the button that unpinned it is gone, and the focus with it
    if (wasDocked.current && !isDocked && document.activeElement === document.body) sign.current?.focus();
    wasDocked.current = isDocked;
  }, [isDocked]);
  if (!memoryEnabled) return null;
  return (
    <>
      <Tooltip label={NAME} events={{ hover: true, focus: true, touch: true }}>
        <UnstyledButton
          className={`${classes.icon ?? ''} ${classes.indicator ?? ''}`}
          aria-label={NAME}
          ref={sign}
          {...(!isDocked && { 'aria-haspopup': 'dialog' })}
          aria-expanded={opened || isDocked}
          onClick={isDocked ? undock : drawer.open}
        >
          <BiMemoryCard size={24} color="var(--indicator)" aria-hidden />
        </UnstyledButton>
      </Tooltip>
      <MemoryDrawer opened={opened && !isDocked} onClose={drawer.close} />
    </>
  );
}

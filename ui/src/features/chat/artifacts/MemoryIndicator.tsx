import { Tooltip, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { BiMemoryCard } from 'react-icons/bi';
import { useSettings } from '@/shared/settings/settings';
import { MemoryDrawer } from '../memory/MemoryDrawer';
import classes from './artifacts.module.css';

const NAME = 'Agent Memory Enabled';

/** Shows that memory is on, and opens what is known. Not there while it is off. */
export function MemoryIndicator() {
  const { memoryEnabled } = useSettings();
  const [opened, drawer] = useDisclosure(false);
  if (!memoryEnabled) return null;
  return (
    <>
      <Tooltip label={NAME} events={{ hover: true, focus: true, touch: true }}>
        <UnstyledButton
          className={`${classes.icon ?? ''} ${classes.indicator ?? ''}`}
          aria-label={NAME}
          aria-haspopup="dialog"
          aria-expanded={opened}
          onClick={drawer.open}
        >
          <BiMemoryCard size={24} color="#4caf50" aria-hidden />
        </UnstyledButton>
      </Tooltip>
      <MemoryDrawer opened={opened} onClose={drawer.close} />
    </>
  );
}

import { Button, Popover, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { TbBookmarkOff } from 'react-icons/tb';
import { change, useSettings } from '@/shared/settings/settings';
import classes from './artifacts.module.css';

const NAME = 'Memory is off';

/** Says quietly that nothing is learned here, and leads to the switch. Not there while memory is on. */
export function MemoryOffSign({ onSwitched }: { onSwitched: () => void }) {
  const { memoryEnabled } = useSettings();
  const [opened, popover] = useDisclosure(false);
  if (memoryEnabled) return null;
  return (
    <Popover
      opened={opened}
      onChange={isOpen => (isOpen ? popover.open() : popover.close())}
      width="min(20rem, 90vw)"
      position="bottom-end"
      withArrow
      shadow="md"
      trapFocus
      returnFocus
    >
      <Tooltip label={NAME} disabled={opened} events={{ hover: true, focus: true, touch: true }}>
        <Popover.Target>
          <UnstyledButton className={classes.icon ?? ''} aria-label={NAME} onClick={popover.toggle}>
            <TbBookmarkOff size={24} aria-hidden />
          </UnstyledButton>
        </Popover.Target>
      </Tooltip>
      <Popover.Dropdown>
        <Text size="sm" mb="sm">
          Memory is off: this chat is saved, but nothing is learned from it or recalled from other chats.
        </Text>
        <Button
          size="xs"
          onClick={() => {
            popover.close();
            change.memoryEnabled(true);
            onSwitched();
          }}
        >
          Turn on memory
        </Button>
      </Popover.Dropdown>
    </Popover>
  );
}

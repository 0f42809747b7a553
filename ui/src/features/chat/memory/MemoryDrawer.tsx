import { Drawer } from '@mantine/core';
import { LazyMemoryPanel, TITLE } from './LazyMemoryPanel';
import classes from './memory.module.css';
import { useMemoryPin } from './memoryPin';
import { PinButton } from './PinButton';

interface MemoryDrawerProps {
  opened: boolean;
  onClose: () => void;
}

/** What is known of the user in the project, from the left edge of the screen; it can be pinned beside the chat. */
export function MemoryDrawer({ opened, onClose }: MemoryDrawerProps) {
  const { isWide, dock } = useMemoryPin();
  return (
    <Drawer.Root
      opened={opened}
      onClose={onClose}
      position="left"
      size="min(500px, 90vw)"
      classNames={{ content: classes.content, header: classes.header, title: classes.title, body: classes.body }}
    >
      <Drawer.Overlay />
      <Drawer.Content>
        <Drawer.Header>
          <Drawer.Title>{TITLE}</Drawer.Title>
          {isWide && (
            <PinButton
              isPinned={false}
              onClick={() => {
                onClose();
                dock();
              }}
            />
          )}
          <Drawer.CloseButton aria-label="Close" ml={0} />
        </Drawer.Header>
        <Drawer.Body>
          <LazyMemoryPanel />
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}

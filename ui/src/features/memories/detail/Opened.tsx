import { Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { Scope } from '@/shared/data/scope';
import classes from './detail.module.css';
import { MemoryPanel } from './MemoryPanel';

interface OpenedProps {
  owner: Scope;
  id: string;
  onDelete: (id: string) => void;
  onOwnPage: () => void;
  onClose: () => void;
}

/** A memory beside the list where there is room, else over it. */
export function Opened(props: OpenedProps) {
  const isWide = useMediaQuery('(min-width: 62em)', undefined, { getInitialValueInEffect: false });
  if (isWide)
    return (
      // Escape closes it, whatever in it has the focus
      // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
      <aside
        className={classes.side}
        aria-label="Memory"
        onKeyDown={event => event.key === 'Escape' && props.onClose()}
      >
        <MemoryPanel key={props.id} {...props} />
      </aside>
    );
  return (
    <Drawer
      opened
      onClose={props.onClose}
      position="right"
      size="min(30rem, 100vw)"
      title="Memory"
      closeButtonProps={{ 'aria-label': 'Close memory' }}
      classNames={{ body: classes.drawer ?? '' }}
    >
      <MemoryPanel key={props.id} {...props} onClose={null} />
    </Drawer>
  );
}

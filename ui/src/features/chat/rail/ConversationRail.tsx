import { Drawer } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import classes from './rail.module.css';
import { railDrawer } from './openable';
import { RailContent } from './RailContent';

/** Where the rail stands beside the thread; below it is a drawer, opened by `RailButton`. */
export const WIDE = '(min-width: 60rem)';

/** All conversations, at the left. */
export function ConversationRail() {
  const isWide = useMediaQuery(WIDE, undefined, { getInitialValueInEffect: false });
  const opened = railDrawer.use();
  if (isWide)
    return (
      <aside className={classes.rail} aria-label="Conversations">
        <RailContent onChosen={() => undefined} />
      </aside>
    );
  return (
    <Drawer
      opened={opened}
      onClose={railDrawer.close}
      title="Conversations"
      size="min(20rem, 90vw)"
      closeButtonProps={{ 'aria-label': 'Close' }}
      classNames={{ content: classes.drawer, body: classes.drawerBody }}
    >
      <RailContent onChosen={railDrawer.close} />
    </Drawer>
  );
}

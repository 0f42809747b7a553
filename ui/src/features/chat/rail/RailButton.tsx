import { ActionIcon, Tooltip } from '@mantine/core';
import { TbLayoutSidebar } from 'react-icons/tb';
import { railDrawer } from './openable';
import classes from './rail.module.css';

/** Opens the rail where the screen has no room for it beside the thread. */
export function RailButton() {
  return (
    <Tooltip label="Conversations">
      <ActionIcon
        className={classes.opener}
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Conversations"
        onClick={railDrawer.open}
      >
        <TbLayoutSidebar size={20} />
      </ActionIcon>
    </Tooltip>
  );
}

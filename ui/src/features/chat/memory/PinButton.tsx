import { ActionIcon, Tooltip } from '@mantine/core';
import { TbPin, TbPinnedOff } from 'react-icons/tb';

/** Pins the memories beside the chat, and unpins them. */
export function PinButton({ isPinned, onClick }: { isPinned: boolean; onClick: () => void }) {
  const name = isPinned ? 'Unpin' : 'Pin beside the chat';
  return (
    <Tooltip label={name}>
      <ActionIcon variant="subtle" color="gray" aria-label={name} onClick={onClick}>
        {isPinned ? <TbPinnedOff size={18} /> : <TbPin size={18} />}
      </ActionIcon>
    </Tooltip>
  );
}

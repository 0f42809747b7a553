import { ActionIcon, Menu } from '@mantine/core';
import { TbBraces, TbDots, TbFileText, TbListDetails, TbPencil, TbTrash } from 'react-icons/tb';
import { Link } from 'react-router';
import { notifyFailure } from '@/shared/components/notify';
import { useMay } from '@/shared/data/access';
import { type Format, useExportConversation } from '@/shared/data/conversations/export';
import type { Conversation } from '@/shared/data/conversations/list';
import { nameOf } from './nameOf';
import classes from './rail.module.css';

interface RowMenuProps {
  conversation: Conversation;
  onRename: () => void;
  onForget: () => void;
}

/** What can be done with a conversation. */
export function RowMenu({ conversation, onRename, onForget }: RowMenuProps) {
  const exporting = useExportConversation(conversation.id, conversation.title ?? conversation.preview);
  const mayWrite = useMay().write;
  const download = (format: Format) =>
    exporting.mutate(format, { onError: error => notifyFailure('Could not export', error) });
  return (
    <Menu position="bottom-end" returnFocus={false}>
      <Menu.Target>
        <ActionIcon
          className={classes.more}
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={`More about ${nameOf(conversation).slice(0, 80)}`}
        >
          <TbDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {mayWrite && (
          <Menu.Item leftSection={<TbPencil size={16} aria-hidden />} onClick={onRename}>
            Rename
          </Menu.Item>
        )}
        <Menu.Item
          component={Link}
          to={`/conversations?${new URLSearchParams({ id: conversation.id }).toString()}`}
          leftSection={<TbListDetails size={16} aria-hidden />}
        >
          Open details
        </Menu.Item>
        <Menu.Item leftSection={<TbFileText size={16} aria-hidden />} onClick={() => download('markdown')}>
          Export as Markdown
        </Menu.Item>
        <Menu.Item leftSection={<TbBraces size={16} aria-hidden />} onClick={() => download('json')}>
          Export as JSON
        </Menu.Item>
        {mayWrite && <Menu.Divider />}
        {mayWrite && (
          <Menu.Item color="red" leftSection={<TbTrash size={16} aria-hidden />} onClick={onForget}>
            Delete
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

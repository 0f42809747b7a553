import { ActionIcon, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { TbActivity, TbBrain, TbDotsVertical, TbDownload, TbEdit, TbEraser, TbTrash } from 'react-icons/tb';
import { Link } from 'react-router';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { useMay } from '@/shared/data/access';
import { useChangeConversation, useForgetConversation } from '@/shared/data/conversations/conversation';
import { type Format, formats, useExportConversation } from '@/shared/data/conversations/export';
import type { Conversation } from '@/shared/data/conversations/list';
import { useAddress } from '../address';
import { EditDialog } from './EditDialog';

/** Everything that can be done with a conversation. */
export function ConversationMenu({ conversation }: { conversation: Conversation }) {
  const { id } = conversation;
  const [isEditing, editing] = useDisclosure(false);
  const { mutate: save } = useExportConversation(id, id);
  const forget = useForget(conversation);
  const clear = useClearContext(id);
  const mayWrite = useMay().write;
  return (
    <>
      <Menu position="bottom-end" width="16rem">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label="More about this conversation">
            <TbDotsVertical aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {mayWrite && (
            <>
              <Menu.Item leftSection={<TbEdit aria-hidden />} onClick={editing.open}>
                Edit details…
              </Menu.Item>
              <Menu.Item leftSection={<TbEraser aria-hidden />} onClick={() => void clear()}>
                Clear context…
              </Menu.Item>
            </>
          )}
          <Menu.Item
            component={Link}
            to={`/memories?source=${encodeURIComponent(id)}`}
            leftSection={<TbBrain aria-hidden />}
          >
            Memories learned from it
          </Menu.Item>
          <Menu.Item
            component={Link}
            to={`/runs?conversation=${encodeURIComponent(id)}`}
            leftSection={<TbActivity aria-hidden />}
          >
            Its runs
          </Menu.Item>
          <Menu.Divider />
          <Menu.Label>Save as</Menu.Label>
          {(Object.keys(formats) as Format[]).map(format => (
            <Menu.Item
              key={format}
              leftSection={<TbDownload aria-hidden />}
              onClick={() => save(format, { onError: error => notifyFailure('Could not save the file', error) })}
            >
              {formats[format].name}
            </Menu.Item>
          ))}
          {mayWrite && (
            <>
              <Menu.Divider />
              <Menu.Item color="red" leftSection={<TbTrash aria-hidden />} onClick={() => void forget()}>
                Delete…
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {isEditing && <EditDialog conversation={conversation} onClose={editing.close} />}
    </>
  );
}

function useForget({ id, title, preview }: Conversation) {
  const { change } = useAddress();
  const { mutate } = useForgetConversation(id);
  return async () => {
    const agreed = await confirm({
      title: 'Delete this conversation?',
      message:
        `“${(title || preview || id).slice(0, 120)}” will be deleted: the messages of all branches, their files, what ` +
        'nodes and discussion remember of it, its run traces, and the facts learned only from it. This cannot be undone.',
      action: 'Delete',
    });
    if (!agreed) return;
    mutate(undefined, {
      onSuccess: () => change({ id: null, tab: null, message: null }),
      onError: error => notifyFailure('Could not delete the conversation', error),
    });
  };
}

function useClearContext(id: string) {
  const { mutate } = useChangeConversation(id);
  return async () => {
    const agreed = await confirm({
      title: 'Clear context?',
      message: 'Messages stay, but models only see what is said from now on. The summary is deleted.',
      action: 'Clear context',
    });
    if (agreed)
      mutate({ clear_context: true }, { onError: error => notifyFailure('Could not clear the context', error) });
  };
}

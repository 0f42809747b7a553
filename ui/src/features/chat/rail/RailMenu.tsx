import { ActionIcon, Menu } from '@mantine/core';
import { lazy, Suspense, useRef } from 'react';
import { TbDots, TbHistory, TbUpload } from 'react-icons/tb';
import { Link } from 'react-router';
import { useMay } from '@/shared/data/access';
import { useDialog } from '@/shared/hooks/useDialog';

const ImportConversations = lazy(async () => ({
  default: (await import('@/shared/components/ImportConversations')).ImportConversations,
}));

/** What can be done with all conversations, by a key that may. */
export function RailMenu() {
  const { shown, open, close } = useDialog<'import'>();
  const mayImport = useMay().admin;
  const opener = useRef<HTMLButtonElement>(null);
  if (!mayImport) return null;
  return (
    <>
      <Menu position="bottom-end" returnFocus={false}>
        <Menu.Target>
          <ActionIcon ref={opener} variant="default" size="input-sm" aria-label="More about conversations">
            <TbDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<TbUpload size={16} aria-hidden />} onClick={() => open('import', opener.current)}>
            Import chats…
          </Menu.Item>
          <Menu.Item component={Link} to="/past" leftSection={<TbHistory size={16} aria-hidden />}>
            Bring your past
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Suspense fallback={null}>{shown && <ImportConversations onClose={close} />}</Suspense>
    </>
  );
}

import { ActionIcon, Badge, Menu, Modal, Table, Text, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { TbDotsVertical, TbLockOff, TbLock, TbRefresh, TbTrash } from 'react-icons/tb';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useAuth } from '@/shared/data/signIn/auth';
import { type Link, type User, useChangeUser, useRemoveUser, useResetUser } from '@/shared/data/signIn/users';
import { ShownLink } from './ShownLink';
import { reach } from './reach';

/** Everybody who signs in, with what they may and whose memories are theirs. */
export function UserTable({ users }: { users: User[] }) {
  const own = useAuth().data?.user?.name;
  const [link, setLink] = useState<Link | null>(null);
  return (
    <>
      <Table.ScrollContainer minWidth="48rem" type="native" tabIndex={0} role="region" aria-label="People, table">
        <Table verticalSpacing="xs" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Role</Table.Th>
              <Table.Th>Memories of</Table.Th>
              <Table.Th>Within</Table.Th>
              <Table.Th>Signs in by</Table.Th>
              <Table.Th>Last seen</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {users.map(user => (
              <Table.Tr key={user.id}>
                <Table.Th scope="row" fw={500}>
                  <Words limit={80}>{user.name}</Words>
                  {user.name === own && (
                    <Text span size="xs" c="dimmed">
                      {' '}
                      you
                    </Text>
                  )}
                  {user.disabled && (
                    <Badge ml="xs" color="gray" variant="light" tt="none" autoContrast>
                      may not sign in
                    </Badge>
                  )}
                </Table.Th>
                <Table.Td>
                  {user.operator && user.role !== 'operator' ? `${user.role}, operator` : user.role}
                </Table.Td>
                <Table.Td>
                  <Words limit={80}>{user.memory_user ?? 'everybody'}</Words>
                </Table.Td>
                <Table.Td>
                  <Words limit={200}>{reach(user)}</Words>
                </Table.Td>
                <Table.Td>{waysOf(user)}</Table.Td>
                <Table.Td>{user.last_seen_at ? <Time value={user.last_seen_at} ago /> : 'never'}</Table.Td>
                <Table.Td ta="right">{user.name !== own && <Actions user={user} onLink={setLink} />}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {link && (
        <Modal
          opened
          onClose={() => setLink(null)}
          title="A link to choose anew"
          closeButtonProps={{ 'aria-label': 'Close' }}
        >
          <ShownLink link={link} onClose={() => setLink(null)} />
        </Modal>
      )}
    </>
  );
}

function waysOf({ has_password: password, passkeys }: User): string {
  const keys = passkeys === 1 ? 'a passkey' : `${String(passkeys)} passkeys`;
  return [password && 'password', passkeys > 0 && keys].filter(Boolean).join(', ') || 'a provider';
}

function Actions({ user, onLink }: { user: User; onLink: (link: Link) => void }) {
  const { id, name, disabled } = user;
  const change = useChangeUser();
  const remove = useRemoveUser();
  const reset = useResetUser();
  const switched = () =>
    change.mutate({ id, disabled: !disabled }, { onError: error => notifyFailure('Nothing was changed', error) });
  const ask = async () => {
    const message = 'They cannot sign in any more. What is remembered of them stays.';
    if (await confirm({ title: `Remove ${name}?`, message, action: 'Remove' }))
      remove.mutate(id, { onError: error => notifyFailure('Nobody was removed', error) });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions of ${name}`} loading={change.isPending}>
          <TbDotsVertical size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<TbRefresh size={16} aria-hidden />}
          onClick={() =>
            reset.mutate(id, { onSuccess: onLink, onError: error => notifyFailure('No link was made', error) })
          }
        >
          Link for a new password
        </Menu.Item>
        <Menu.Item
          leftSection={disabled ? <TbLockOff size={16} aria-hidden /> : <TbLock size={16} aria-hidden />}
          onClick={switched}
        >
          {disabled ? 'Let them sign in again' : 'Keep them out'}
        </Menu.Item>
        <Menu.Item color="red.8" leftSection={<TbTrash size={16} aria-hidden />} onClick={() => void ask()}>
          Remove…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

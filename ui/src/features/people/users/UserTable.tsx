import { ActionIcon, Badge, Menu, Table, Text, VisuallyHidden } from '@mantine/core';
import { TbBan, TbCheck, TbDotsVertical, TbInbox, TbPencil, TbRefresh, TbTrash } from 'react-icons/tb';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMay, useMe } from '@/shared/data/access';
import { type Hold, useHolds } from '@/shared/data/subjects';
import { type Left, type User, useChangeUser, useRemoveUser } from '@/shared/data/users';
import { whose } from '../grants';
import { openerOf } from '../openerOf';
import { DataItems } from './DataItems';

/** `opener` has the focus again when what is opened is closed. */
type Open = (user: User, opener: HTMLElement | null) => void;

interface UserTableProps {
  users: User[];
  onChange: Open;
  onReset: Open;
  onAdopt: Open;
  onHold: Open;
  onErase: Open;
  onLeft: (user: User, left: Left) => void;
}

/** Every user with what they may, and how they sign in. */
export function UserTable({ users, ...open }: UserTableProps) {
  const me = useMe();
  return (
    <Table.ScrollContainer minWidth="52rem" type="native" tabIndex={0} role="region" aria-label="Users, table">
      <Table verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Role</Table.Th>
            <Table.Th>For</Table.Th>
            <Table.Th>Signs in by</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Last seen</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {users.map(user => (
            <UserRow
              key={user.id}
              user={user}
              isOwn={me.signed_in && me.tenant === user.tenant && me.name === user.name}
              {...open}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface UserRowProps extends Omit<UserTableProps, 'users'> {
  user: User;
  isOwn: boolean;
}

function UserRow({ user, isOwn, ...open }: UserRowProps) {
  const hold = useHolds(user.tenant).data?.find(one => one.user_id === user.memory_user);
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        <Words limit={64}>{user.name}</Words>
        {isOwn && (
          <Text span size="xs" c="dimmed">
            {' '}
            you
          </Text>
        )}
      </Table.Th>
      <Table.Td>{roleOf(user)}</Table.Td>
      <Table.Td>
        <Words limit={200}>{whose({ ...user, user: user.memory_user })}</Words>
      </Table.Td>
      <Table.Td>{waysOf(user)}</Table.Td>
      <Table.Td>
        <Badge
          color={user.disabled ? 'gray' : 'pine'}
          variant="light"
          tt="none"
          fw={600}
          miw="max-content"
          autoContrast
        >
          {user.disabled ? 'disabled' : 'active'}
        </Badge>
        {hold && (
          <Badge
            color="yellow"
            variant="light"
            tt="none"
            fw={600}
            miw="max-content"
            autoContrast
            ml={4}
            title={hold.reason}
          >
            on hold
          </Badge>
        )}
      </Table.Td>
      <Table.Td>{user.last_seen_at ? <Time value={user.last_seen_at} ago /> : 'never'}</Table.Td>
      <Table.Td ta="right">
        <Actions user={user} isOwn={isOwn} hold={hold} {...open} />
      </Table.Td>
    </Table.Tr>
  );
}

export function roleOf({ role, operator }: Pick<User, 'role' | 'operator'>): string {
  return operator && role !== 'operator' ? `${role}, operator` : role;
}

function waysOf({ has_password, passkeys }: User): string {
  const ways = [
    ...(has_password ? ['password'] : []),
    ...(passkeys ? [passkeys === 1 ? 'passkey' : `${passkeys} passkeys`] : []),
  ];
  return ways.join(', ') || 'identity provider';
}

interface ActionsProps extends UserRowProps {
  hold: Hold | undefined;
}

function Actions({ user, isOwn, hold, onChange, onReset, onAdopt, onHold, onErase, onLeft }: ActionsProps) {
  const { id, name, disabled } = user;
  const { admin } = useMay();
  const change = useChangeUser();
  const remove = useRemoveUser();
  const disable = async () => {
    const message = `${name} is signed out at once, and cannot sign in until you enable them again. Nothing is deleted.`;
    if (disabled || (await confirm({ title: 'Disable this user?', message, action: 'Disable' })))
      change.mutate(
        { id, changes: { disabled: !disabled } },
        {
          onSuccess: left => !disabled && onLeft(user, left),
          onError: error => notifyFailure('The user was not changed', error),
        },
      );
  };
  const ask = async () => {
    const message = `${name} can no longer sign in. Keys bound to their memories stop working. Their memories stay. This cannot be undone.`;
    if (await confirm({ title: 'Remove this user?', message, action: 'Remove' }))
      await remove.mutateAsync(id).then(
        left => onLeft(user, left), // also when the row is gone
        (error: unknown) => notifyFailure('The user was not removed', error),
      );
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Actions of ${name}`}
          loading={change.isPending || remove.isPending}
        >
          <TbDotsVertical size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<TbPencil size={16} aria-hidden />}
          onClick={event => onChange(user, openerOf(event.currentTarget))}
        >
          Change…
        </Menu.Item>
        <Menu.Item
          leftSection={<TbRefresh size={16} aria-hidden />}
          onClick={event => onReset(user, openerOf(event.currentTarget))}
        >
          Reset sign-in…
        </Menu.Item>
        <Menu.Item
          leftSection={<TbInbox size={16} aria-hidden />}
          onClick={event => onAdopt(user, openerOf(event.currentTarget))}
        >
          Give memories…
        </Menu.Item>
        {admin && user.memory_user !== null && (
          <DataItems
            subject={{ user: user.memory_user, tenant: user.tenant }}
            hold={hold}
            isOwn={isOwn}
            onHold={opener => onHold(user, openerOf(opener))}
            onErase={opener => onErase(user, openerOf(opener))}
          />
        )}
        {!isOwn && (
          <>
            <Menu.Item
              leftSection={disabled ? <TbCheck size={16} aria-hidden /> : <TbBan size={16} aria-hidden />}
              onClick={() => void disable()}
            >
              {disabled ? 'Enable' : 'Disable…'}
            </Menu.Item>
            <Menu.Item color="red" leftSection={<TbTrash size={16} aria-hidden />} onClick={() => void ask()}>
              Remove…
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

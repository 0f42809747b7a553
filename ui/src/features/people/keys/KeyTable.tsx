import { ActionIcon, Badge, Code, Group, Menu, Table, Text, VisuallyHidden } from '@mantine/core';
import { TbDotsVertical, TbKeyOff, TbRefresh } from 'react-icons/tb';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { Me } from '@/shared/data/access';
import { type ApiKey, useRevokeKey } from '@/shared/data/apiKeys';
import { amountOf, whatIs } from '@/shared/text/amounts';
import { whose } from '../grants';
import { openerOf } from '../openerOf';

interface KeyTableProps {
  keys: ApiKey[];
  me: Me;
  /** `opener` has the focus again when what it opens is closed. */
  onRotate: (key: ApiKey, opener: HTMLElement | null) => void;
}

/** Every key with what it is for; those that ended stay as a record. */
export function KeyTable({ keys, me, onRotate }: KeyTableProps) {
  return (
    <Table.ScrollContainer minWidth="64rem" type="native" tabIndex={0} role="region" aria-label="Keys, table">
      <Table verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Key</Table.Th>
            <Table.Th>Role</Table.Th>
            <Table.Th>For</Table.Th>
            <Table.Th>Quotas</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Last used</Table.Th>
            <Table.Th>Created</Table.Th>
            <Table.Th>Expires</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map(key => (
            <KeyRow key={key.id} shown={key} isOwn={key.id === me.key} onRotate={onRotate} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface KeyRowProps extends Pick<KeyTableProps, 'onRotate'> {
  shown: ApiKey;
  isOwn: boolean;
}

function KeyRow({ shown, isOwn, onRotate }: KeyRowProps) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        {shown.label && (
          <Text size="sm" fw={500}>
            <Words limit={80}>{shown.label}</Words>
          </Text>
        )}
        <Code>{shown.id}</Code>
        {isOwn && (
          <Text span size="xs" c="dimmed">
            {' '}
            in use here
          </Text>
        )}
      </Table.Th>
      <Table.Td>{shown.role}</Table.Td>
      <Table.Td>
        <Words limit={200}>{whose(shown)}</Words>
      </Table.Td>
      <Table.Td>
        <Quotas limits={shown.limits} />
      </Table.Td>
      <Table.Td>
        <State shown={shown} />
      </Table.Td>
      <Table.Td>{shown.last_used_at ? <Time value={shown.last_used_at} ago /> : 'never'}</Table.Td>
      <Table.Td>
        <Time value={shown.created_at} ago />
      </Table.Td>
      <Table.Td>{shown.expires_at ? <Time value={shown.expires_at} /> : 'never'}</Table.Td>
      <Table.Td ta="right">
        {shown.state === 'valid' && <Actions shown={shown} isOwn={isOwn} onRotate={onRotate} />}
      </Table.Td>
    </Table.Tr>
  );
}

/** What a key may have and use at most, where it has quotas of its own. */
function Quotas({ limits }: Pick<ApiKey, 'limits'>) {
  const own = Object.entries(limits);
  if (!own.length) return 'as for the server';
  return own.map(([what, most]) => (
    <Text key={what} size="xs">
      {whatIs(what)}: {amountOf(what, most)}
    </Text>
  ));
}

function State({ shown: { state, replaced_by } }: { shown: ApiKey }) {
  return (
    <Group gap={4}>
      <Badge
        color={state === 'valid' ? 'pine' : 'gray'}
        variant="light"
        tt="none"
        fw={600}
        miw="max-content"
        autoContrast
      >
        {state}
      </Badge>
      {replaced_by && (
        <Text span size="xs" c="dimmed">
          replaced by {replaced_by}
        </Text>
      )}
    </Group>
  );
}

function Actions({ shown, isOwn, onRotate }: KeyRowProps) {
  const revoke = useRevokeKey();
  const name = nameOf(shown);
  const ask = async () => {
    const message = isOwn
      ? `You use this key now: the page will ask you for another one. Whatever else uses ${name} stops working at once.`
      : `Whatever uses ${name} stops working at once. This cannot be undone.`;
    if (await confirm({ title: 'Revoke this key?', message, action: 'Revoke' }))
      revoke.mutate(shown.id, { onError: error => notifyFailure('The key was not revoked', error) });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions of ${name}`} loading={revoke.isPending}>
          <TbDotsVertical size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<TbRefresh size={16} aria-hidden />}
          onClick={event => onRotate(shown, openerOf(event.currentTarget))}
        >
          Rotate…
        </Menu.Item>
        <Menu.Item color="red" leftSection={<TbKeyOff size={16} aria-hidden />} onClick={() => void ask()}>
          Revoke…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function nameOf({ id, label }: ApiKey): string {
  return label ? `“${label}” (${id})` : id;
}

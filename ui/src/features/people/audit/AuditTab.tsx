import { Anchor, Autocomplete, Badge, Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { TbHistory } from 'react-icons/tb';
import { useState } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { type AuditEntry, type AuditFilter, useAudit } from '@/shared/data/audit';
import { useAddressParams } from '@/shared/hooks/useAddressParams';

// as the server names them; others can be typed
const ACTIONS = [
  'conversations.delete_all',
  'conversations.export',
  'conversations.forget',
  'conversations.import',
  'invitations.create',
  'invitations.withdraw',
  'keys.create',
  'keys.revoke',
  'keys.rotate',
  'memories.delete_all',
  'memories.export',
  'memories.import',
  'model.change',
  'refused',
  'settings.change',
  'sign_in.invitation',
  'sign_in.passkey',
  'sign_in.password',
  'sign_in.recovery',
  'sign_in.refused',
  'tenants.put',
  'tenants.suspend',
  'users.change',
  'users.create',
  'users.disable',
  'users.remove',
  'users.reset',
  'workflows.change',
];

/** What was done with keys, people, settings and all of somebody's data, newest first. */
export function AuditTab() {
  const { params, change } = useAddressParams();
  const filter = {
    action: params.get('action') ?? '',
    actor: params.get('actor') ?? '',
    day: params.get('day') ?? '',
  };
  const isNarrowed = Object.values(filter).some(Boolean);
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed" maw="44rem">
        It contains no text of memories or messages, and no secrets. <code>mnemoir audit verify</code> tells whether
        entries were changed or removed.
      </Text>
      <Filters key={JSON.stringify(filter)} filter={filter} onChange={changes => change({ ...changes })} />
      <Entries filter={filter} isNarrowed={isNarrowed} onActor={actor => change({ actor })} />
    </Stack>
  );
}

interface FiltersProps {
  filter: AuditFilter;
  onChange: (changes: Partial<AuditFilter>) => void;
}

/** They count with Enter, or when the field is left. */
function Filters({ filter, onChange }: FiltersProps) {
  const [typed, setTyped] = useState(filter);
  const set = (changes: Partial<AuditFilter>) => setTyped(before => ({ ...before, ...changes }));
  const isNarrowed = Object.values(filter).some(Boolean);
  const keep = () => {
    const now = { action: typed.action.trim(), actor: typed.actor.trim(), day: typed.day };
    if (JSON.stringify(now) !== JSON.stringify(filter)) onChange(now);
  };
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        keep();
      }}
    >
      <Group align="flex-end" gap="sm">
        <Autocomplete
          label="Action"
          placeholder="All"
          data={ACTIONS}
          value={typed.action}
          onChange={action => set({ action })}
          onOptionSubmit={action => onChange({ action })}
          onBlur={keep}
          autoComplete="off"
        />
        <TextInput
          label="By"
          placeholder="All: a key’s id, or user:name"
          value={typed.actor}
          onChange={event => set({ actor: event.currentTarget.value })}
          onBlur={keep}
          autoComplete="off"
          spellCheck={false}
        />
        <TextInput
          label="Day, in UTC"
          type="date"
          value={typed.day}
          onChange={event => set({ day: event.currentTarget.value })}
          onBlur={keep}
        />
        <Button type="submit" variant="default">
          Filter
        </Button>
        {isNarrowed && (
          <Button variant="subtle" color="gray" onClick={() => onChange({ action: '', actor: '', day: '' })}>
            Show all
          </Button>
        )}
      </Group>
    </form>
  );
}

interface EntriesProps {
  filter: AuditFilter;
  isNarrowed: boolean;
  onActor: (actor: string) => void;
}

function Entries({ filter, isNarrowed, onActor }: EntriesProps) {
  const list = useAudit(filter);
  if (list.isPending) return <LoadingState label="Loading the audit log" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.entries.length)
    return (
      <EmptyState
        Icon={TbHistory}
        title={isNarrowed ? 'No matching entries' : 'No entries yet'}
        hint={isNarrowed ? 'No entry matches all filters.' : 'Entries appear once there is a key or a user.'}
      />
    );
  return (
    <>
      <Table.ScrollContainer minWidth="58rem" type="native" tabIndex={0} role="region" aria-label="Audit log, table">
        <Table verticalSpacing="xs" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Time</Table.Th>
              <Table.Th>By</Table.Th>
              <Table.Th>Action</Table.Th>
              <Table.Th>About</Table.Th>
              <Table.Th>Result</Table.Th>
              <Table.Th>Address</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {list.entries.map(entry => (
              <EntryRow key={entry.number} entry={entry} people={list.people} onActor={onActor} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {list.hasNextPage && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          disabled={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          Show older entries
        </Anchor>
      )}
    </>
  );
}

interface EntryRowProps {
  entry: AuditEntry;
  /** The names of those who are here still, by their ids. */
  people: ReadonlyMap<string, string>;
  onActor: (actor: string) => void;
}

function EntryRow({ entry, people, onActor }: EntryRowProps) {
  const { at, actor, action, target, address, count } = entry;
  const person = people.get(actor.replace(/^user:/, ''));
  const by = person === undefined ? actor : `user:${person}`;
  const about = people.get(target.split(' ', 1)[0] ?? '');
  return (
    <Table.Tr>
      <Table.Td>
        <Time value={at} />
      </Table.Td>
      <Table.Td>
        <Anchor component="button" type="button" size="sm" onClick={() => onActor(by)}>
          <Words limit={80}>{by}</Words>
        </Anchor>
      </Table.Td>
      <Table.Td>
        {action}
        {count > 1 && ` (${count.toLocaleString()} times)`}
      </Table.Td>
      <Table.Td>
        <Words limit={160}>{target}</Words>
        {about !== undefined && (
          <Text size="xs" c="dimmed">
            <Words limit={64}>{about}</Words>
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Result result={entry.result} />
      </Table.Td>
      <Table.Td>{address}</Table.Td>
    </Table.Tr>
  );
}

/** An act that was begun and has no result goes on, or was cut off. */
function Result({ result }: { result: string }) {
  if (result !== 'begun') return <>{result}</>;
  return (
    <Badge color="yellow" variant="light" tt="none" fw={600} autoContrast>
      no result
    </Badge>
  );
}

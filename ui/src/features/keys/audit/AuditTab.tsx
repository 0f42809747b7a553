import { Anchor, Autocomplete, Badge, Code, Stack, Table, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { type AuditEntry, useAuditLog } from '@/shared/data/auditLog';
import { acts } from './acts';

const PAUSE_MS = 300;

/** What was done with keys, people, settings and all of somebody's data, newest first. */
export function AuditTab() {
  const [action, setAction] = useState('');
  const [settled] = useDebouncedValue(action.trim(), PAUSE_MS);
  const log = useAuditLog(settled);
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed" maw="44rem">
        Who did what, and with which result. No words of messages or memories are in it.{' '}
        <Code>mnemoir audit verify</Code> shows whether entries were removed or changed.
      </Text>
      <Autocomplete
        label="Action"
        placeholder="All"
        description="One action alone, such as keys.create."
        maw="20rem"
        data={[...new Set(log.entries.map(entry => entry.action))].sort()}
        value={action}
        onChange={setAction}
        maxLength={80}
        autoComplete="off"
      />
      {log.isPending && <LoadingState label="Loading the log" />}
      {log.isError && <ErrorState error={log.error} onRetry={() => void log.refetch()} />}
      {log.data &&
        (log.entries.length === 0 ? (
          <EmptyState title="No entries" hint="Acts are written down from the first key or person on." />
        ) : (
          <AuditTable entries={log.entries} />
        ))}
      {log.hasNextPage && (
        <Anchor component="button" type="button" size="sm" onClick={() => void log.fetchNextPage()}>
          Show older entries
        </Anchor>
      )}
    </Stack>
  );
}

function AuditTable({ entries }: { entries: AuditEntry[] }) {
  return (
    <Table.ScrollContainer minWidth="52rem" type="native" tabIndex={0} role="region" aria-label="Audit log, table">
      <Table verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>When</Table.Th>
            <Table.Th>Who</Table.Th>
            <Table.Th>Action</Table.Th>
            <Table.Th>What</Table.Th>
            <Table.Th>Result</Table.Th>
            <Table.Th>From</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {acts(entries).map(act => (
            <Table.Tr key={act.number}>
              <Table.Td>
                <Time value={act.at} />
              </Table.Td>
              <Table.Td>
                <Words limit={80}>{act.actor}</Words>
              </Table.Td>
              <Table.Td>{act.action}</Table.Td>
              <Table.Td>
                <Words limit={120}>{act.target}</Words>
              </Table.Td>
              <Table.Td>
                <Badge color={act.isOpen ? 'yellow' : 'gray'} variant="light" tt="none" autoContrast>
                  {act.isOpen ? 'no result yet' : act.result}
                </Badge>
                {act.count > 1 && (
                  <Text span size="xs" c="dimmed">
                    {' '}
                    {act.count} times
                  </Text>
                )}
              </Table.Td>
              <Table.Td>{act.address}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

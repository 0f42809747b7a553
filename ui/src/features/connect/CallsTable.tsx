import { Table, Text } from '@mantine/core';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { CLIENT_NAMES, type ClientSeen } from '@/shared/data/status';

/** All kinds of client that has called, who called last first. */
export function CallsTable({ seen, since }: { seen: ClientSeen[]; since: string }) {
  if (seen.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No calls since the server started, <Time value={since} ago />.
      </Text>
    );
  return (
    <>
      <Table.ScrollContainer minWidth="40rem" type="native" tabIndex={0} role="region" aria-label="Calls, table">
        <Table verticalSpacing="xs" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Client</Table.Th>
              <Table.Th>Last call</Table.Th>
              <Table.Th>Route</Table.Th>
              <Table.Th>Model</Table.Th>
              <Table.Th>Memory</Table.Th>
              <Table.Th ta="right">Calls</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {seen.map(client => (
              <Table.Tr key={client.kind}>
                <Table.Th scope="row" fw={500}>
                  {CLIENT_NAMES[client.kind]}
                </Table.Th>
                <Table.Td>
                  <Time value={client.last_at} ago />
                </Table.Td>
                <Table.Td>{client.route}</Table.Td>
                <Table.Td>{client.model === null ? 'no chat' : <Words limit={80}>{client.model}</Words>}</Table.Td>
                <Table.Td>{client.memory === null ? '' : client.memory ? 'on' : 'off'}</Table.Td>
                <Table.Td ta="right">{client.count.toLocaleString()}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="sm" c="dimmed">
        Counted since the server started, <Time value={since} ago />, without addresses or content, and only until it
        stops.
      </Text>
    </>
  );
}

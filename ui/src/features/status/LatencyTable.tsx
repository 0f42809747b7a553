import { ScrollArea, Table, Text } from '@mantine/core';
import type { LatencyStep } from '@/shared/data/status';
import { clock, milliseconds } from './format';

/** The steps in which something was measured, the newest first. */
export function LatencyTable({ title, steps }: { title: string; steps: LatencyStep[] }) {
  const measured = steps.filter(step => step.count > 0).reverse();
  if (measured.length === 0)
    return (
      <Text size="sm" c="dimmed" ta="center" py="xl">
        No data for this period.
      </Text>
    );
  return (
    <ScrollArea.Autosize
      mah="14rem"
      viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': `${title}, table` }}
      type="auto"
      offsetScrollbars="y"
    >
      <Table verticalSpacing={4} horizontalSpacing={6} aria-label={`${title}, by time`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>From</Table.Th>
            <Table.Th ta="right">Median</Table.Th>
            <Table.Th ta="right">p95</Table.Th>
            <Table.Th ta="right">Times</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {measured.map(step => (
            <Table.Tr key={step.at}>
              <Table.Th scope="row" fw={500} style={{ whiteSpace: 'nowrap' }}>
                <time dateTime={step.at}>{clock(step.at)}</time>
              </Table.Th>
              <Table.Td ta="right">{milliseconds(step.p50_ms)}</Table.Td>
              <Table.Td ta="right">{milliseconds(step.p95_ms)}</Table.Td>
              <Table.Td ta="right">{step.count.toLocaleString()}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}

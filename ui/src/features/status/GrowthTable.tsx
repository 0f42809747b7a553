import { Table } from '@mantine/core';
import type { GrowthDay } from '@/shared/data/status';
import { counted, dayOf } from './format';
import type { Series } from './growth';

/** The days on which there was anything, the newest first. */
export function GrowthTable({ series: { title, parts }, days }: { series: Series; days: readonly GrowthDay[] }) {
  const busy = days.filter(day => parts.some(({ member }) => day[member])).reverse();
  return (
    <Table verticalSpacing={4} horizontalSpacing={6} aria-label={title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Day</Table.Th>
          {parts.map(({ name }) => (
            <Table.Th key={name} ta="right">
              {name}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {busy.map(day => (
          <Table.Tr key={day.day}>
            <Table.Th scope="row" fw={500}>
              <time dateTime={day.day}>{dayOf(day.day)}</time>
            </Table.Th>
            {parts.map(({ member }) => (
              <Table.Td key={member} ta="right">
                {counted(day[member])}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

interface ScrollingProps {
  label: string;
  minWidth: string;
  heads: readonly string[];
  children: ReactNode;
}

/** A table that scrolls sideways where it is too wide, by keys too. */
export function Scrolling({ label, minWidth, heads, children }: ScrollingProps) {
  return (
    <Table.ScrollContainer minWidth={minWidth} type="native" tabIndex={0} role="region" aria-label={label}>
      <Table verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {heads.map(head => (
              <Table.Th key={head}>{head}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

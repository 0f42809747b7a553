import { Progress, Table } from '@mantine/core';
import type { Use } from '@/shared/data/usage';
import { amountOf, whatIs } from '@/shared/text/amounts';
import { Scrolling } from './Scrolling';
import { Time } from './Time';
import { Words } from './Words';

/** What users and tenants have stored and used, beside the quotas on it. */
export function UseTable({ uses }: { uses: Use[] }) {
  return (
    <Scrolling label="Use, table" minWidth="44rem" heads={['Who', 'What', 'Used', 'Quota', 'Resets']}>
      {uses.map(use => (
        <Table.Tr key={`${use.tenant} ${use.user ?? ''} ${use.what}`}>
          <Table.Th scope="row" fw={500}>
            <Words limit={200}>{ownerOf(use)}</Words>
          </Table.Th>
          <Table.Td>{whatIs(use.what)}</Table.Td>
          <Table.Td>{amountOf(use.what, use.used)}</Table.Td>
          <Table.Td>{use.limit === null ? 'none' : <Quota use={use} limit={use.limit} />}</Table.Td>
          <Table.Td>{use.resets_at ? <Time value={use.resets_at} /> : '–'}</Table.Td>
        </Table.Tr>
      ))}
    </Scrolling>
  );
}

function ownerOf({ tenant, user }: Use): string {
  return user === null ? `Tenant ${tenant}` : user;
}

function Quota({ use, limit }: { use: Use; limit: number }) {
  const share = limit > 0 ? Math.min(100, (use.used / limit) * 100) : 100;
  return (
    <>
      {amountOf(use.what, limit)}
      <Progress
        value={share}
        color={share >= 100 ? 'red' : 'pine'}
        aria-label={`${whatIs(use.what)} of ${ownerOf(use)}: ${Math.round(share)} %`}
        mt={4}
      />
    </>
  );
}

import { Progress, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { type BucketState, type Use, useUsage } from '@/shared/data/usage';
import { amountOf, whatIs } from './amounts';

/** What each user and tenant has stored and used, beside the quotas on it, and how often this caller may still ask. */
export function UsageTab() {
  const usage = useUsage();
  if (usage.isPending) return <LoadingState label="Loading the use" />;
  if (usage.isError) return <ErrorState error={usage.error} onRetry={() => void usage.refetch()} />;
  if (!usage.data?.results.length)
    return (
      <EmptyState title="Nothing is counted yet" hint="Use shows here once somebody stores or asks something." />
    );
  return (
    <Stack gap="xl">
      <Stack gap="md">
        <Text size="sm" c="dimmed" maw="44rem">
          Days and months are in UTC. Quotas are set in the settings of the server, below quotas.
        </Text>
        <UseTable uses={usage.data.results} />
      </Stack>
      {usage.data.buckets.length > 0 && <Buckets buckets={usage.data.buckets} />}
    </Stack>
  );
}

function UseTable({ uses }: { uses: Use[] }) {
  return (
    <Scrolling label="Use, table" minWidth="44rem" heads={['Of', 'What', 'Used', 'Quota', 'Begins anew']}>
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
  return user === null ? `all of ${tenant}` : user;
}

function Quota({ use, limit }: { use: Use; limit: number }) {
  const share = limit > 0 ? Math.min(100, (use.used / limit) * 100) : 100;
  return (
    <>
      {amountOf(use.what, limit)}
      <Progress
        value={share}
        color={share >= 100 ? 'red.8' : 'pine'}
        aria-label={`${whatIs(use.what)} of ${ownerOf(use)}: ${Math.round(share)} %`}
        mt={4}
      />
    </>
  );
}

function Buckets({ buckets }: { buckets: BucketState[] }) {
  return (
    <Stack gap="xs" component="section" aria-label="Rate limits">
      <Title order={2} size="h4">
        Rate limits of your own requests
      </Title>
      <Scrolling label="Rate limits, table" minWidth="30rem" heads={['Kind', 'Left', 'Of', 'All free again in']}>
        {buckets.map(({ bucket, limit, remaining, reset_s }) => (
          <Table.Tr key={`${bucket} ${limit}`}>
            <Table.Th scope="row" fw={500}>
              {bucket}
            </Table.Th>
            <Table.Td>{remaining.toLocaleString()}</Table.Td>
            <Table.Td>{limit.toLocaleString()}</Table.Td>
            <Table.Td>{Math.ceil(reset_s).toLocaleString()} s</Table.Td>
          </Table.Tr>
        ))}
      </Scrolling>
    </Stack>
  );
}

interface ScrollingProps {
  label: string;
  minWidth: string;
  heads: readonly string[];
  children: ReactNode;
}

function Scrolling({ label, minWidth, heads, children }: ScrollingProps) {
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

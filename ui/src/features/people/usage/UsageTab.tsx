import { Stack, Table, Text, Title } from '@mantine/core';
import { TbChartBar } from 'react-icons/tb';
import { Scrolling } from '@/shared/components/Scrolling';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { UseTable } from '@/shared/components/UseTable';
import { type BucketState, useUsage } from '@/shared/data/usage';

/** What each user and tenant has stored and used, beside the quotas on it, and how often this caller may still ask. */
export function UsageTab() {
  const usage = useUsage();
  if (usage.isPending) return <LoadingState label="Loading the use" />;
  if (usage.isError) return <ErrorState error={usage.error} onRetry={() => void usage.refetch()} />;
  if (!usage.data?.results.length)
    return (
      <EmptyState
        Icon={TbChartBar}
        title="No use yet"
        hint="Use appears here once somebody stores or asks something."
      />
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

function Buckets({ buckets }: { buckets: BucketState[] }) {
  return (
    <Stack gap="xs" component="section" aria-label="Rate limits">
      <Title order={2} size="h4">
        Rate limits of your own requests
      </Title>
      <Scrolling label="Rate limits, table" minWidth="30rem" heads={['Kind', 'Left', 'Of', 'All available in']}>
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

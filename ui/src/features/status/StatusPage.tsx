import { Button, SimpleGrid, Stack } from '@mantine/core';
import { TbRefresh } from 'react-icons/tb';
import { notifyFailure } from '@/shared/components/notify';
import { PageFrame } from '@/shared/components/PageFrame';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { type Status, useCheck, useStatus } from '@/shared/data/status';
import { BackgroundWork } from './BackgroundWork';
import { Choices } from './Choices';
import { Counts } from './Counts';
import { DiskUse } from './DiskUse';
import { Endpoints } from './Endpoints';
import { Growth } from './Growth';
import { HealthCards } from './HealthCards';
import { Latencies } from './Latencies';
import { Remarks } from './Remarks';

/** How the server is, looked at again every few seconds. */
export function StatusPage() {
  const status = useStatus();
  const check = useCheck();
  const checkNow = (
    <Button
      size="xs"
      variant="default"
      leftSection={<TbRefresh size={16} aria-hidden />}
      loading={check.isPending}
      onClick={() =>
        check.mutate(undefined, { onError: error => notifyFailure('Could not check the models', error) })
      }
    >
      Check models now
    </Button>
  );
  return (
    <PageFrame title="Status" actions={checkNow}>
      {status.isPending && <LoadingState label="Loading status" />}
      {status.isError && <ErrorState error={status.error} onRetry={() => void status.refetch()} />}
      {status.data && <Parts status={status.data} />}
    </PageFrame>
  );
}

function Parts({ status }: { status: Status }) {
  return (
    <Stack gap="md" maw="100rem">
      <Remarks remarks={status.remarks} />
      <HealthCards status={status} />
      <Endpoints endpoints={status.endpoints} />
      <Counts counts={status.counts} />
      <Growth />
      <Latencies latency={status.latency} />
      <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }} spacing="md">
        <BackgroundWork work={status.work} />
        <DiskUse room={status.room} />
        <Choices choices={status.choices} />
      </SimpleGrid>
    </Stack>
  );
}

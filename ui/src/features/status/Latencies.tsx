import { Group, SegmentedControl, SimpleGrid, Stack, Switch, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { type LatencyStep, type Span, type Status, useLatencies } from '@/shared/data/status';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import { milliseconds, plural } from './format';
import { LatencyTable } from './LatencyTable';
import { Section } from '@/shared/components/Section';
import classes from './Status.module.css';

const LatencyChart = lazy(() => import('./LatencyChart'));

type Latency = Status['latency']['recall'];

/** How long memory took, over the last hour or day: as charts, or as tables that say the same. */
export function Latencies({ latency }: { latency: Status['latency'] }) {
  const { params, change } = useAddressParams();
  const span: Span = params.get('span') === 'day' ? 'day' : 'hour';
  const asTable = params.get('as') === 'table';
  const series = useLatencies(span);
  const set = (name: string, value: string | null) => change({ [name]: value }, { replace: true });
  const shown = (title: string, hint: string, whole: Latency, steps: LatencyStep[] | undefined) => (
    <Section title={title} aside={<Summary title={title} spread={whole[span]} />}>
      <Text size="sm" c="dimmed" mb="sm">
        {hint}
      </Text>
      {steps && (asTable ? <LatencyTable title={title} steps={steps} /> : <Chart span={span} steps={steps} />)}
      {series.isPending && <LoadingState label="Loading the times" />}
    </Section>
  );

  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <SegmentedControl
          size="xs"
          aria-label="Time shown"
          value={span}
          onChange={value => set('span', value === 'day' ? 'day' : null)}
          data={[
            { value: 'hour', label: 'Last hour' },
            { value: 'day', label: 'Last 24 hours' },
          ]}
        />
        <Switch
          size="sm"
          label="Show as tables"
          checked={asTable}
          onChange={event => set('as', event.currentTarget.checked ? 'table' : null)}
        />
      </Group>
      {series.isError && <ErrorState error={series.error} onRetry={() => void series.refetch()} />}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        {shown('Recall', 'How long chats waited for memories.', latency.recall, series.data?.recall)}
        {shown('Write', 'How long it took to store what was learned.', latency.write, series.data?.write)}
      </SimpleGrid>
    </Stack>
  );
}

function Chart({ span, steps }: { span: Span; steps: LatencyStep[] }) {
  if (steps.every(step => step.count === 0))
    return (
      <Text size="sm" c="dimmed" ta="center" py="xl">
        No data for the last {span}.
      </Text>
    );
  return (
    <Suspense fallback={<LoadingState label="Loading the chart" />}>
      <LatencyChart steps={steps} />
    </Suspense>
  );
}

/** The whole span in words; also what the chart's lines stand for. */
function Summary({ title, spread }: { title: string; spread: Latency['hour'] }) {
  return (
    <Text size="sm" component="div" role="group" aria-label={`${title}, in all`}>
      <Group gap="sm">
        <span className={classes.key}>
          <span className={classes.line} aria-hidden /> median {milliseconds(spread.p50_ms)}
        </span>
        <span className={classes.key}>
          <span className={classes.dashed} aria-hidden /> p95 {milliseconds(spread.p95_ms)}
        </span>
        <span>{plural(spread.count, 'time')}</span>
      </Group>
    </Text>
  );
}

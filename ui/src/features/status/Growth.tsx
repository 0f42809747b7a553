import { Group, ScrollArea, SimpleGrid, Text, VisuallyHidden } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { type GrowthDay, useGrowth } from '@/shared/data/status';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import { counted } from './format';
import { type Series, SERIES, total } from './growth';
import { GrowthTable } from './GrowthTable';
import { Section } from '@/shared/components/Section';
import classes from './Status.module.css';

const GrowthChart = lazy(() => import('./GrowthChart'));

/** What was added on each of the last days: as charts, or as tables that say the same. */
export function Growth() {
  const growth = useGrowth();
  if (growth.isError) return <ErrorState error={growth.error} onRetry={() => void growth.refetch()} />;
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }} spacing="md">
      {SERIES.map(series => (
        <Section
          key={series.title}
          title={series.title}
          aside={growth.data && <Totals series={series} days={growth.data} />}
        >
          {growth.data ? <ByDay series={series} days={growth.data} /> : <LoadingState label="Counting" />}
        </Section>
      ))}
    </SimpleGrid>
  );
}

interface GrowthProps {
  series: Series;
  days: readonly GrowthDay[];
}

/** The sums in words; also what the colours stand for. */
function Totals({ series: { title, parts }, days }: GrowthProps) {
  return (
    <Text size="sm" component="div" role="group" aria-label={`${title}, in all`}>
      <Group gap="sm">
        <span>{days.length} days:</span>
        {parts.map(({ member, name, color }) => (
          <span key={member} className={classes.key}>
            {parts.length > 1 && <span className={classes.swatch} style={{ background: color }} aria-hidden />}
            {counted(total(days, member))} {parts.length > 1 && name.toLowerCase()}
          </span>
        ))}
      </Group>
    </Text>
  );
}

function ByDay({ series, days }: GrowthProps) {
  const { params } = useAddressParams();
  const totals = series.parts.map(({ member }) => total(days, member));
  if (totals.includes(null)) return <LoadingState label="Counting" />;
  if (totals.every(count => count === 0))
    return (
      <Text size="sm" c="dimmed" ta="center" py="xl">
        Nothing in the last {days.length} days.
      </Text>
    );
  const table = <GrowthTable series={series} days={days} />;
  if (params.get('as') === 'table')
    return (
      <ScrollArea.Autosize
        mah="14rem"
        viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': `${series.title}, table` }}
        type="auto"
        offsetScrollbars="y"
      >
        {table}
      </ScrollArea.Autosize>
    );
  return (
    <>
      <VisuallyHidden>{table}</VisuallyHidden>
      <Suspense fallback={<LoadingState label="Loading the chart" />}>
        <GrowthChart series={series} days={days} />
      </Suspense>
    </>
  );
}

import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import type { GrowthDay } from '@/shared/data/status';
import { dayOf } from './format';
import type { Series } from './growth';

const compact = new Intl.NumberFormat(undefined, { notation: 'compact' });

/** Bars by day. A table beside it says the same, so that it is hidden from screen readers. */
export default function GrowthChart({ series, days }: { series: Series; days: readonly GrowthDay[] }) {
  return (
    <div aria-hidden data-testid="growth-chart">
      <BarChart
        h={160}
        type="stacked"
        data={days.map(day => ({ ...day, day: dayOf(day.day) }))}
        dataKey="day"
        series={series.parts.map(({ member, name, color }) => ({ name: member, label: name, color }))}
        valueFormatter={value => value.toLocaleString()}
        xAxisProps={{ minTickGap: 24 }}
        yAxisProps={{
          width: 48,
          tickCount: 3,
          allowDecimals: false,
          tickFormatter: (value: number) => compact.format(value),
        }}
        barChartProps={{ accessibilityLayer: false }}
        barProps={{ isAnimationActive: false }}
      />
    </div>
  );
}

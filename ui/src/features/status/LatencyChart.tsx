import '@mantine/charts/styles.css';
import { LineChart } from '@mantine/charts';
import type { LatencyStep } from '@/shared/data/status';
import { clock, milliseconds } from './format';

/**
 * Median and 95th percentile over time; apart by line and colour. A chunk of its own, for the library is large. What it
 * shows is also told in words and tables, so that it is hidden from screen readers.
 */
export default function LatencyChart({ steps }: { steps: LatencyStep[] }) {
  return (
    <div aria-hidden data-testid="latency-chart">
      <LineChart
        h={220}
        data={steps.map(step => ({ at: clock(step.at), median: step.p50_ms, most: step.p95_ms }))}
        dataKey="at"
        series={[
          {
            name: 'median',
            label: 'Median',
            color: 'var(--accent)',
          },
          {
            name: 'most',
            label: 'p95',
            color: 'var(--second)',
            strokeDasharray: '5 4',
          },
        ]}
        curveType="linear"
        connectNulls={false}
        dotProps={{ r: 2.5, strokeWidth: 1 }}
        valueFormatter={milliseconds}
        xAxisProps={{ minTickGap: 48 }}
        yAxisProps={{ width: 64 }}
        lineChartProps={{ accessibilityLayer: false }}
        lineProps={{ isAnimationActive: false }}
      />
    </div>
  );
}

import { useMemo } from 'react';
import Plot, { type Paint, type PlotOptions } from '@/shared/charts/Plot';
import { amountAxis, nameAxis } from '@/shared/charts/axes';
import type { LatencyStep } from '@/shared/data/status';
import { clock, milliseconds } from './format';

/** Median and 95th percentile over time; apart by line and colour. What it shows is also told in words and tables. */
export default function LatencyChart({ steps }: { steps: LatencyStep[] }) {
  const data = useMemo(
    (): [number[], (number | null)[], (number | null)[]] => [
      steps.map((_, at) => at),
      steps.map(step => step.p50_ms),
      steps.map(step => step.p95_ms),
    ],
    [steps],
  );
  const optionsOf = useMemo(() => {
    const times = steps.map(step => clock(step.at));
    const line = {
      points: { show: true, size: 6 },
      width: 2,
      value: (_: unknown, ms: number | null) => milliseconds(ms),
    };
    return (paint: Paint, font: string): PlotOptions => ({
      series: [
        { label: 'Time', value: (_, __, ___, at) => (at === null ? '' : (times[at] ?? '')) },
        { ...line, label: 'Median', stroke: paint('--accent') },
        { ...line, label: 'p95', stroke: paint('--second'), dash: [5, 4] },
      ],
      scales: { x: { time: false }, y: { range: (_, __, top) => [0, (top || 1) * 1.05] } },
      axes: [nameAxis(paint, font, times), amountAxis(paint, font, milliseconds)],
      cursor: { y: false, drag: { x: false, y: false } },
    });
  }, [steps]);
  return (
    <div data-testid="latency-chart">
      <Plot data={data} height={220} optionsOf={optionsOf} />
    </div>
  );
}

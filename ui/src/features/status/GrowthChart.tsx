import { useMemo } from 'react';
import Plot, { type Paint, type PlotOptions } from '@/shared/charts/Plot';
import { amountAxis, nameAxis } from '@/shared/charts/axes';
import { barSeries, stacked } from '@/shared/charts/stacked';
import type { GrowthDay } from '@/shared/data/status';
import { counted, dayOf } from './format';
import type { Series } from './growth';

/** Bars by day. A table beside it says the same, so that it is hidden from screen readers. */
export default function GrowthChart({ series, days }: { series: Series; days: readonly GrowthDay[] }) {
  const data = useMemo(
    (): [number[], ...number[][]] => [
      days.map((_, at) => at),
      ...stacked(series.parts.map(({ member }) => days.map(day => day[member] ?? 0))),
    ],
    [series, days],
  );
  const optionsOf = useMemo(() => {
    const told = series.parts.toReversed();
    return (paint: Paint, font: string): PlotOptions => ({
      series: [
        { label: 'Day', value: (_, __, ___, at) => (at === null ? '' : dayOf(days[at]?.day ?? '')) },
        ...barSeries(
          series.parts.map(({ token }) => token),
          paint,
        ).map((bar, at) => ({
          ...bar,
          label: told[at]?.name ?? '',
          value: (_: unknown, __: unknown, ___: unknown, day: number | null) => {
            const member = told[at]?.member;
            return day === null || !member ? '' : counted(days[day]?.[member] ?? null);
          },
        })),
      ],
      scales: {
        x: { time: false, range: () => [-0.5, days.length - 0.5] },
        y: { range: (_, __, top) => [0, top || 1] },
      },
      axes: [
        nameAxis(
          paint,
          font,
          days.map(({ day }) => dayOf(day)),
        ),
        amountAxis(paint, font),
      ],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    });
  }, [series, days]);
  return (
    <div data-testid="growth-chart">
      <Plot data={data} height={160} optionsOf={optionsOf} />
    </div>
  );
}

import { useMemo } from 'react';
import Plot, { type Paint, type PlotOptions } from '@/shared/charts/Plot';
import { barSeries, stacked } from '@/shared/charts/stacked';
import { type Bar, GROUPS, heightsOf, marksOf } from '@/shared/charts/weeks';

const HEIGHT = 63;
const AXIS = 18;

/** The picture of the bars. */
export default function Picture({ bars, most }: { bars: readonly Bar[]; most: number }) {
  const data = useMemo(
    (): [number[], ...number[][]] => [bars.map((_, at) => at), ...stacked(heightsOf(bars))],
    [bars],
  );
  const optionsOf = useMemo(() => {
    const marks = marksOf(bars, Math.max(1, most));
    return (paint: Paint, font: string): PlotOptions => ({
      series: [
        {},
        ...barSeries(
          GROUPS.map(group => `--origin-${group}`),
          paint,
        ),
      ],
      scales: {
        x: { time: false, range: () => [-0.5, bars.length - 0.5] },
        y: { range: (_, __, top) => [0, top || 1] },
      },
      axes: [
        {
          size: AXIS,
          // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- its name is one of types alone
          align: 1, // at the right of its place
          gap: 2,
          font,
          stroke: paint('--mantine-color-dimmed'),
          grid: { show: false },
          ticks: { show: false },
          splits: () => marks.map(({ at }) => at),
          values: () => marks.map(({ name }) => name),
        },
        { show: false },
      ],
      padding: [2, 0, 0, 0],
      cursor: { show: false },
      legend: { show: false },
    });
  }, [bars, most]);
  return <Plot data={data} height={HEIGHT} optionsOf={optionsOf} />;
}

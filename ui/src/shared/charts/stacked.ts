import uPlot from 'uplot';
import type { Paint } from './Plot';

/** Heights of which each stands on those before it, the whole first: it is drawn first, and the others over it. */
export function stacked(parts: readonly (readonly number[])[]): number[][] {
  const sums: number[][] = [];
  for (const part of parts) sums.push(part.map((value, at) => value + (sums.at(-1)?.[at] ?? 0)));
  return sums.reverse();
}

/** The series of bars that `stacked` gives, by the tokens of the parts' colours. */
export function barSeries(colours: readonly string[], paint: Paint): uPlot.Series[] {
  const paths = uPlot.paths.bars?.({ size: [0.8, 48], align: 0 });
  return colours
    .map(token => ({
      fill: paint(token),
      stroke: paint(token),
      width: 0,
      points: { show: false },
      ...(paths && { paths }),
    }))
    .reverse();
}

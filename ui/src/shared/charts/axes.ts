import type uPlot from 'uplot';
import type { Paint } from './Plot';

const compact = new Intl.NumberFormat(undefined, { notation: 'compact' });

const look = (paint: Paint, font: string): uPlot.Axis => ({
  font,
  stroke: paint('--mantine-color-dimmed'),
  grid: { stroke: paint('--border-quiet'), width: 1 },
  ticks: { show: false },
});

/** An axis of places that have names: days, times. */
export function nameAxis(paint: Paint, font: string, names: readonly string[]): uPlot.Axis {
  return {
    ...look(paint, font),
    grid: { show: false },
    size: 24,
    space: 64,
    incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    values: (_, places) => places.map(place => names[place] ?? ''),
  };
}

/** An axis of amounts from zero up. */
export function amountAxis(
  paint: Paint,
  font: string,
  words = (amount: number) => compact.format(amount),
): uPlot.Axis {
  return {
    ...look(paint, font),
    size: 56,
    space: 40,
    values: (_, amounts) => amounts.map(amount => (Number.isInteger(amount) ? words(amount) : '')),
  };
}

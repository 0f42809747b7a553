import type { MapPoint } from '@/shared/data/memories/map';

const HUES = 6;
const SIZES = [
  { recalls: 10, width: 15 },
  { recalls: 3, width: 12 },
  { recalls: 1, width: 9 },
  { recalls: 0, width: 6.5 },
];

/** Points of one look, as one path of lines without length, whose round ends are the points. */
export interface Dots {
  key: string;
  hue: number;
  width: number;
  path: string;
}

/** The points by the colour of their group and their size, which recalls decide; thousands are a few dozen paths. */
export function dotsOf(points: readonly MapPoint[]): Dots[] {
  const found = new Map<string, Dots>();
  for (const { x, y, group, recalls } of points) {
    const hue = group % HUES;
    const width = SIZES.find(size => recalls >= size.recalls)?.width ?? 6.5;
    const key = `${hue} ${width}`;
    const dots = found.get(key) ?? { key, hue, width, path: '' };
    dots.path += `M${x} ${y}h0`;
    found.set(key, dots);
  }
  return [...found.values()].sort((a, b) => a.width - b.width);
}

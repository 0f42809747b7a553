import type { MapGroup, MapPoint } from '@/shared/data/memories/map';

export interface Spot {
  x: number;
  y: number;
}

/** What of the map is seen: its point (0, 0) lies at `x`, `y` of the window, and its unit has `scale` pixels. */
export interface View extends Spot {
  scale: number;
}

export interface Size {
  width: number;
  height: number;
}

const EDGE = 24; // pixels around the whole map
const MOST_SCALE = 20; // times the whole
const NEAR = 14; // pixels within which a point is meant
const LABEL = { letter: 6.8, around: 16, height: 22, gap: 4 }; // pixels

/** The whole map in the window. */
export function wholeView({ width, height }: Size): View {
  return { x: width / 2, y: height / 2, scale: Math.max(40, Math.min(width, height) / 2 - EDGE) };
}

export const onScreen = (view: View, { x, y }: Spot): Spot => ({
  x: view.x + x * view.scale,
  y: view.y + y * view.scale,
});

export const moved = (view: View, by: Spot): View => ({ ...view, x: view.x + by.x, y: view.y + by.y });

/** Closer by a factor, with what lies at a spot of the window staying there. */
export function zoomed(view: View, at: Spot, factor: number, size: Size): View {
  const whole = wholeView(size).scale;
  const scale = Math.min(whole * MOST_SCALE, Math.max(whole / 2, view.scale * factor));
  const grown = scale / view.scale;
  return { x: at.x - (at.x - view.x) * grown, y: at.y - (at.y - view.y) * grown, scale };
}

/** The point that is meant by a spot of the window; undefined where none is near. */
export function pointAt(points: readonly MapPoint[], view: View, at: Spot): MapPoint | undefined {
  let best: MapPoint | undefined;
  let least = NEAR;
  for (const point of points) {
    const { x, y } = onScreen(view, point);
    const apart = Math.hypot(x - at.x, y - at.y);
    if (apart < least) [best, least] = [point, apart];
  }
  return best;
}

/** The points within a line that was drawn around them in the window. */
export function pointsWithin(points: readonly MapPoint[], view: View, lasso: readonly Spot[]): MapPoint[] {
  return points.filter(point => isWithin(onScreen(view, point), lasso));
}

/** Whether a spot lies within a closed line: a ray from it to the right crosses the line an odd number of times. */
export function isWithin({ x, y }: Spot, line: readonly Spot[]): boolean {
  let isInside = false;
  line.forEach((end, at) => {
    const start = line.at(at - 1) ?? end;
    const crosses =
      start.y > y !== end.y > y && x < ((end.x - start.x) * (y - start.y)) / (end.y - start.y) + start.x;
    if (crosses) isInside = !isInside;
  });
  return isInside;
}

export interface Label extends Spot {
  /** The place of its group in the list of groups. */
  group: number;
  text: string;
}

/** The names of groups that have room in the window, those of large groups before others. */
export function labelsOf(groups: readonly MapGroup[], view: View, size: Size): Label[] {
  const taken: { x: number; y: number; width: number }[] = [];
  const bySize = groups.map((group, at) => ({ group, at })).sort((a, b) => b.group.count - a.group.count);
  return bySize.flatMap(({ group, at }) => {
    const { x, y } = onScreen(view, { x: group.x, y: group.y - group.radius }); // above its points
    if (x < 0 || y < 0 || x > size.width || y > size.height) return [];
    const text = nameOf(group);
    const width = text.length * LABEL.letter + LABEL.around;
    const isFree = taken.every(
      other =>
        Math.abs(other.x - x) > (other.width + width) / 2 + LABEL.gap ||
        Math.abs(other.y - y) > LABEL.height + LABEL.gap,
    );
    if (!isFree) return [];
    taken.push({ x, y, width });
    return [{ group: at, text, x, y }];
  });
}

export const nameOf = ({ words, count }: MapGroup) => words.join(' · ') || `${count} without words`;

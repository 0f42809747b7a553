import { type PointerEvent, useRef, useState } from 'react';
import type { MapPoint, MemoriesMap } from '@/shared/data/memories/map';
import { moved, pointAt, pointsWithin, type Spot, type View } from './view';

interface Parts {
  map: MemoriesMap;
  /** What dragging does; with Shift it draws a lasso anyway. */
  tool: 'move' | 'lasso';
  view: View;
  onView: (view: View) => void;
  onSelect: (ids: string[]) => void;
  onOpen: (id: string) => void;
  setPointed: (point: MapPoint | undefined) => void;
}

const CLICK = 5; // pixels that a click may move

/** What a pointer does on the map: pointed at, opened by a click, moved by dragging, or drawn around. */
export function useDragging({ map, tool, view, onView, onSelect, onOpen, setPointed }: Parts) {
  const [lasso, setLasso] = useState<Spot[]>([]);
  const [isBusy, setBusy] = useState(false);
  const begun = useRef<{ at: Spot; view: View; draws: boolean; isFar: boolean } | null>(null);
  const end = () => {
    begun.current = null;
    setLasso([]);
    setBusy(false);
  };
  const handlers = {
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0 || !event.isPrimary) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      begun.current = { at: spotOf(event), view, draws: tool === 'lasso' || event.shiftKey, isFar: false };
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      const at = spotOf(event);
      const from = begun.current;
      if (!from) {
        setPointed(event.pointerType === 'touch' ? undefined : pointAt(map.points, view, at));
        return;
      }
      const by = { x: at.x - from.at.x, y: at.y - from.at.y };
      if (!from.isFar && Math.hypot(by.x, by.y) < CLICK) return;
      from.isFar = true;
      setBusy(true);
      if (from.draws) setLasso(line => [...(line.length ? line : [from.at]), at]);
      else onView(moved(from.view, by));
    },
    onPointerUp: (event: PointerEvent<HTMLElement>) => {
      const from = begun.current;
      if (!from) return;
      if (!from.isFar) {
        const point = pointAt(map.points, view, spotOf(event));
        if (point) onOpen(point.id);
      } else if (from.draws) onSelect(pointsWithin(map.points, view, lasso).map(({ id }) => id));
      end();
    },
    onPointerCancel: end,
    onPointerLeave: () => setPointed(undefined),
  };
  return { lasso, isBusy, handlers };
}

function spotOf(event: PointerEvent<HTMLElement>): Spot {
  const { left, top } = event.currentTarget.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}

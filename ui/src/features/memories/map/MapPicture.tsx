import { ActionIcon } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type CSSProperties, type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { TbArrowsMaximize, TbMinus, TbPlus } from 'react-icons/tb';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { MapPoint, MemoriesMap } from '@/shared/data/memories/map';
import type { Selection } from '../list/useSelection';
import { dotsOf } from './dots';
import classes from './map.module.css';
import { useDragging } from './useDragging';
import { labelsOf, moved, onScreen, type Size, type Spot, type View, wholeView, zoomed } from './view';

export type Tool = 'move' | 'lasso';

interface MapPictureProps {
  map: MemoriesMap;
  tool: Tool;
  selection: Selection;
  openId: string;
  onOpen: (id: string) => void;
  /** What stands in a corner of the picture. */
  tools: ReactNode;
}

const USUAL: Size = { width: 800, height: 600 }; // before the page has measured it
const STEP = 60; // pixels
const CLOSER = 1.4;
const MOST_TOLD = 160; // characters

/** Points, the circles of their groups with their names, and what is drawn around them. */
export function MapPicture({ map, tool, selection, openId, onOpen, tools }: MapPictureProps) {
  const measured = useElementSize<HTMLDivElement>();
  const frame = useRef<HTMLDivElement | null>(null);
  const width = measured.width || USUAL.width;
  const height = measured.height || USUAL.height;
  const size = useMemo(() => ({ width, height }), [width, height]);
  const [chosen, setChosen] = useState<View | null>(null); // null until one moves it: the whole
  const view = chosen ?? wholeView(size);
  const [pointed, setPointed] = useState<MapPoint>();
  const drag = useDragging({ map, tool, view, onView: setChosen, onSelect: selection.set, onOpen, setPointed });
  useOwnGestures(frame, (at, factor) => setChosen(zoomed(view, at, factor, size)));
  const zoom = (factor: number) => setChosen(zoomed(view, { x: width / 2, y: height / 2 }, factor, size));
  const onKeyDown = (event: KeyboardEvent) => {
    const acts: Record<string, () => void> = {
      ArrowLeft: () => setChosen(moved(view, { x: STEP, y: 0 })),
      ArrowRight: () => setChosen(moved(view, { x: -STEP, y: 0 })),
      ArrowUp: () => setChosen(moved(view, { x: 0, y: STEP })),
      ArrowDown: () => setChosen(moved(view, { x: 0, y: -STEP })),
      '+': () => zoom(CLOSER),
      '=': () => zoom(CLOSER),
      '-': () => zoom(1 / CLOSER),
      '0': () => setChosen(null),
      Home: () => setChosen(null),
      Escape: () => (openId ? onOpen('') : selection.set([])),
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    // the keys move the picture; what can be chosen in it are buttons
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      ref={element => {
        measured.ref(element);
        frame.current = element;
      }}
      className={classes.frame}
      data-tool={tool}
      data-busy={drag.isBusy || undefined}
      role="application"
      aria-label="Map of memories. Arrow keys move it, plus and minus zoom, 0 shows all. The names of groups select them; the table lists each memory."
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      onKeyDown={onKeyDown}
      {...drag.handlers}
    >
      <Drawing map={map} view={view} selection={selection} />
      {drag.lasso.length > 1 && (
        <svg className={classes.picture} aria-hidden>
          <polygon className={classes.lasso} points={drag.lasso.map(({ x, y }) => `${x},${y}`).join(' ')} />
        </svg>
      )}
      <Labels map={map} view={view} size={size} selection={selection} />
      {pointed && !drag.isBusy && <Tip point={pointed} at={onScreen(view, pointed)} size={size} />}
      <div className={classes.tools} onPointerDown={event => event.stopPropagation()}>
        <Zoom onZoom={zoom} onWhole={() => setChosen(null)} />
        {tools}
      </div>
    </div>
  );
}

interface ZoomProps {
  onZoom: (factor: number) => void;
  onWhole: () => void;
}

/** What wheel and keys do, for fingers. */
function Zoom({ onZoom, onWhole }: ZoomProps) {
  return (
    <ActionIcon.Group aria-label="Zoom">
      <ActionIcon variant="default" size={30} aria-label="Zoom out" onClick={() => onZoom(1 / CLOSER)}>
        <TbMinus size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon variant="default" size={30} aria-label="Zoom in" onClick={() => onZoom(CLOSER)}>
        <TbPlus size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon variant="default" size={30} aria-label="Show the whole map" onClick={onWhole}>
        <TbArrowsMaximize size={16} aria-hidden />
      </ActionIcon>
    </ActionIcon.Group>
  );
}

interface PartProps {
  map: MemoriesMap;
  view: View;
  selection: Selection;
}

function Drawing({ map, view, selection }: PartProps) {
  const dots = useMemo(() => dotsOf(map.points), [map.points]);
  const selected = useMemo(() => map.points.filter(({ id }) => selection.ids.has(id)), [map.points, selection.ids]);
  return (
    <svg className={classes.picture} aria-hidden>
      <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
        {map.groups.map(({ x, y, radius }, at) => (
          <circle key={at} className={classes.circle} cx={x} cy={y} r={radius} />
        ))}
        {selected.length > 0 && (
          <path className={classes.chosen} d={selected.map(({ x, y }) => `M${x} ${y}h0`).join('')} />
        )}
        {dots.map(({ key, hue, width, path }) => (
          <path
            key={key}
            className={classes.dots}
            style={{ '--hue': `var(--hue-${hue})`, strokeWidth: width } as CSSProperties}
            d={path}
          />
        ))}
      </g>
    </svg>
  );
}

function Labels({ map, view, size, selection }: PartProps & { size: Size }) {
  return labelsOf(map.groups, view, size).map(({ group, text, x, y }) => {
    const ids = map.points.filter(point => point.group === group).map(({ id }) => id);
    const isSelected = ids.length > 0 && ids.every(id => selection.ids.has(id));
    return (
      <button
        key={group}
        type="button"
        className={classes.label}
        style={{ left: x, top: y }}
        aria-label={`${text}: ${ids.length} ${ids.length === 1 ? 'memory' : 'memories'}`}
        aria-pressed={isSelected}
        onPointerDown={event => event.stopPropagation()}
        onClick={() => {
          const own = new Set(ids);
          const others = [...selection.ids].filter(id => !own.has(id));
          selection.set(isSelected ? others : [...others, ...ids]);
        }}
      >
        <Words>{text}</Words>
      </button>
    );
  });
}

function Tip({ point, at, size }: { point: MapPoint; at: Spot; size: Size }) {
  const isRight = at.x > size.width / 2;
  const isLow = at.y > size.height / 2;
  const style = {
    [isRight ? 'right' : 'left']: (isRight ? size.width - at.x : at.x) + 12,
    [isLow ? 'bottom' : 'top']: (isLow ? size.height - at.y : at.y) + 12,
  };
  return (
    <div className={classes.tip} style={style} role="presentation">
      <Words>{point.memory.length > MOST_TOLD ? `${point.memory.slice(0, MOST_TOLD)}…` : point.memory}</Words>
      <div>
        <Time value={point.created_at} ago />
        {point.recalls > 0 && ` · recalled ${point.recalls}×`}
      </div>
    </div>
  );
}

/**
 * Zooms with the wheel, and lets the browser scroll nothing by a finger: a tap that came soon after would end that
 * scrolling and be no click. React's own listeners could keep the page from neither.
 */
function useOwnGestures(frame: { current: HTMLElement | null }, zoom: (at: Spot, factor: number) => void) {
  const latest = useRef(zoom);
  useEffect(() => {
    latest.current = zoom;
  });
  useEffect(() => {
    const element = frame.current;
    const onWheel = (event: WheelEvent) => {
      if (!element) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      latest.current({ x: event.clientX - left, y: event.clientY - top }, Math.exp(-event.deltaY / 500));
    };
    const onTouchMove = (event: TouchEvent) => event.preventDefault();
    element?.addEventListener('wheel', onWheel, { passive: false });
    element?.addEventListener('touchmove', onTouchMove, { passive: false });
    return () => {
      element?.removeEventListener('wheel', onWheel);
      element?.removeEventListener('touchmove', onTouchMove);
    };
  }, [frame]);
}

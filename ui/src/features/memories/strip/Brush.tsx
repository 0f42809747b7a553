import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { type Bar, barsInWords } from '@/shared/charts/weeks';
import classes from './Strip.module.css';

type Range = readonly [first: number, last: number];

interface BrushProps {
  bars: readonly Bar[];
  chosen: Range | null;
  now: number;
  onChoose: (range: Range | null) => void;
}

/**
 * What one chooses bars with: by drawing over them, or by the keys of the first and the last one. Pointing at a bar tells
 * what it holds. Escape chooses all.
 */
export function Brush({ bars, chosen, now, onChoose }: BrushProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const [drawn, setDrawn] = useState<Range | null>(null); // from where it began to where it is
  const end = bars.length - 1;
  const range: Range = drawn ? ordered(drawn) : (chosen ?? [0, end]);
  const isSome = drawn !== null || chosen !== null;
  const share = (at: number) => `${(at / bars.length) * 100}%`;
  const placeOf = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return Math.min(end, Math.max(0, Math.floor(((event.clientX - left) / (width || 1)) * bars.length)));
  };
  const begin = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const at = placeOf(event);
    setDrawn([at, at]);
  };
  const move = (event: PointerEvent<HTMLElement>) => {
    const at = placeOf(event);
    setPointed(at);
    if (drawn) setDrawn([drawn[0], at]);
  };
  const finish = (event: PointerEvent<HTMLElement>) => {
    if (drawn) onChoose(ordered(drawn));
    setDrawn(null);
    // so that Escape is heard here
    event.currentTarget.querySelector<HTMLElement>('[role="slider"]')?.focus({ preventScroll: true });
  };
  const clear = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    setDrawn(null);
    if (isSome) onChoose(null);
  };
  const told = drawn ? bars.slice(range[0], range[1] + 1) : pointed === null ? [] : bars.slice(pointed, pointed + 1);
  return (
    // drawing has its twin in the two sliders
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      className={classes.brush}
      role="group"
      aria-label="Weeks shown"
      onPointerDown={begin}
      onPointerMove={move}
      onPointerUp={finish}
      onPointerCancel={() => setDrawn(null)}
      onPointerLeave={() => setPointed(null)}
      onKeyDown={clear}
    >
      {isSome && <div className={classes.out} style={{ left: 0, width: share(range[0]) }} />}
      {isSome && <div className={classes.out} style={{ left: share(range[1] + 1), right: 0 }} />}
      <Edge
        label="First week"
        at={range[0]}
        least={0}
        most={range[1]}
        left={share(range[0])}
        isShown={isSome}
        text={barsInWords(bars.slice(range[0], range[0] + 1), now)}
        onMove={at => onChoose([at, range[1]])}
      />
      <Edge
        label="Last week"
        at={range[1]}
        least={range[0]}
        most={end}
        left={share(range[1] + 1)}
        isShown={isSome}
        text={barsInWords(bars.slice(range[1], range[1] + 1), now)}
        onMove={at => onChoose([range[0], at])}
      />
      {told.length > 0 && (
        <div
          className={classes.tip}
          aria-hidden
          data-side={(pointed ?? 0) > bars.length / 2 ? 'left' : 'right'}
          style={{ left: share((pointed ?? range[0]) + 0.5) }}
        >
          {barsInWords(told, now)}
        </div>
      )}
    </div>
  );
}

interface EdgeProps {
  label: string;
  at: number;
  least: number;
  most: number;
  left: string;
  isShown: boolean;
  text: string;
  onMove: (at: number) => void;
}

const FAR = 4;

function Edge({ label, at, least, most, left, isShown, text, onMove }: EdgeProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = {
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      PageDown: at - FAR,
      PageUp: at + FAR,
      Home: least,
      End: most,
    };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const place = Math.min(most, Math.max(least, to));
    if (place !== at) onMove(place);
  };
  return (
    <div
      role="slider"
      tabIndex={0}
      className={classes.edge}
      data-shown={isShown || undefined}
      style={{ left }}
      aria-label={label}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={at}
      aria-valuetext={text}
      onKeyDown={onKeyDown}
    />
  );
}

const ordered = ([one, other]: Range): Range => (one <= other ? [one, other] : [other, one]);

import { type KeyboardEvent, useRef, useState } from 'react';
import type { Segment } from './segments';
import classes from './Window.module.css';

interface TokenBarProps {
  label: string;
  segments: readonly Segment[];
  /** How many tokens the whole width is. */
  scale: number;
  /** Where the budget ends; none for a bar without one. */
  budget?: number;
  /** What a segment is, in words. */
  tell: (segment: Segment) => string;
  /** Of the mouse or the keyboard; null when they leave. */
  onPoint: (segment: Segment | null) => void;
  onChoose: (segment: Segment) => void;
}

/** Tokens from left to right. One stop of the Tab key; the arrow keys go from piece to piece. */
export function TokenBar({ label, segments, scale, budget, tell, onPoint, onChoose }: TokenBarProps) {
  const bar = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const stop = Math.min(at, segments.length - 1);

  const go = (event: KeyboardEvent) => {
    const to = { ArrowRight: stop + 1, ArrowLeft: stop - 1, Home: 0, End: segments.length - 1 }[event.key];
    if (to === undefined || to < 0 || to >= segments.length) return;
    event.preventDefault();
    setAt(to);
    bar.current?.querySelectorAll('button')[to]?.focus();
  };

  return (
    <div ref={bar} className={classes.bar} role="toolbar" aria-label={label}>
      {segments.map((segment, place) => (
        <button
          key={place}
          type="button"
          className={classes.segment}
          data-state={segment.state}
          style={{ width: `${(segment.tokens / scale) * 100}%` }}
          tabIndex={place === stop ? 0 : -1}
          aria-label={tell(segment)}
          onKeyDown={go}
          onFocus={() => onPoint(segment)}
          onBlur={() => onPoint(null)}
          onMouseEnter={() => onPoint(segment)}
          onMouseLeave={() => onPoint(null)}
          onClick={() => onChoose(segment)}
        />
      ))}
      {budget !== undefined && (
        <span className={classes.budget} style={{ left: `calc(${(budget / scale) * 100}% - 2px)` }} aria-hidden />
      )}
    </div>
  );
}

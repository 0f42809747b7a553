import { type KeyboardEvent, useRef, useState } from 'react';
import type { RunWhole } from '@/shared/data/runs/run';
import { span } from '../figures';
import { type Line, lengthOf } from './lines';
import { WaterfallRow } from './WaterfallRow';
import classes from './Waterfall.module.css';

interface WaterfallProps {
  run: RunWhole;
  lines: readonly Line[];
  /** Place of the node that is looked at. */
  chosen: number | null;
  onChoose: (place: number) => void;
}

const TICKS = [0, 0.25, 0.5, 0.75, 1];

/**
 * The run as a tree whose rows are bars over time. Arrow keys move up and down, close and open what has children;
 * Enter chooses.
 */
export function Waterfall({ run, lines, chosen, onChoose }: WaterfallProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<string | null>(null);
  const tree = useRef<HTMLDivElement>(null);
  const length = lengthOf(run, lines);
  const shown = lines.filter(line => !line.within.some(key => closed.has(key)));
  const chosenKey = lines.find(line => line.kind === 'node' && line.place === chosen)?.key;
  const entry = shown.find(line => line.key === focused) ?? shown.find(line => line.key === chosenKey) ?? shown[0];

  const focus = (line: Line | undefined) => {
    if (!line) return;
    setFocused(line.key);
    tree.current?.querySelector<HTMLElement>(`[data-key="${line.key}"]`)?.focus();
  };
  const setOpen = (line: Line, isOpen: boolean) => {
    const next = new Set(closed);
    if (isOpen) next.delete(line.key);
    else next.add(line.key);
    setClosed(next);
  };
  const choose = (line: Line) => {
    setFocused(line.key);
    if (line.kind === 'node') onChoose(line.place);
    else if (line.hasChildren) setOpen(line, closed.has(line.key));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const at = entry ? shown.indexOf(entry) : 0;
    const line = shown[at];
    if (!line) return;
    const moves: Record<string, () => void> = {
      ArrowDown: () => focus(shown[at + 1]),
      ArrowUp: () => focus(shown[at - 1]),
      Home: () => focus(shown[0]),
      End: () => focus(shown.at(-1)),
      ArrowRight: () => (line.hasChildren && closed.has(line.key) ? setOpen(line, true) : focus(shown[at + 1])),
      ArrowLeft: () =>
        line.hasChildren && !closed.has(line.key)
          ? setOpen(line, false)
          : focus(shown.find(other => other.key === line.within.at(-1))),
      Enter: () => choose(line),
      ' ': () => choose(line),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };

  return (
    <div className={classes.waterfall}>
      <div className={classes.axis} aria-hidden>
        <span className={classes.ticks}>
          {TICKS.map(tick => (
            <span key={tick} style={{ left: `${tick * 100}%` }}>
              {tick ? span(length * tick) : '0'}
            </span>
          ))}
        </span>
      </div>
      <div ref={tree} role="tree" aria-label="Workflows and nodes over time" className={classes.tree} tabIndex={-1}>
        {shown.map(line => (
          <WaterfallRow
            key={line.key}
            line={line}
            run={run}
            length={length}
            isClosed={closed.has(line.key)}
            isChosen={line.key === chosenKey}
            isEntry={line === entry}
            onChoose={() => choose(line)}
            onToggle={() => setOpen(line, closed.has(line.key))}
            onKeyDown={onKeyDown}
          />
        ))}
      </div>
      <p className={classes.legend}>
        <span data-part="waiting">before the first token</span>
        <span data-part="answering">answering</span>
        <span data-part="working">no model</span>
        {run.answered_ms !== null && <span data-part="answered">answer complete</span>}
      </p>
    </div>
  );
}

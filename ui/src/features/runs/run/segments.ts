import type { RunVariable } from '@/shared/data/runs/run';

/** A piece of a prompt; with `name`, the value of that variable, which may be empty. */
export interface Segment {
  text: string;
  name?: string;
}

interface Placed {
  name: string;
  from: number;
  to: number;
}

/**
 * The text cut where variables begin and end; of one within another the inner one is told. Places count characters as
 * the server does, where JavaScript counts two for some; those outside the text are left out.
 */
export function segmentsOf(text: string, variables: readonly RunVariable[]): Segment[] {
  const at = offsets(text);
  const placed = variables.flatMap(({ name, start, end }): Placed[] => {
    const [from, to] = [at(start), at(end)];
    return from === undefined || to === undefined || to < from ? [] : [{ name, from, to }];
  });
  const cuts = [...new Set([0, text.length, ...placed.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b);
  const segments: (Segment & { of?: Placed })[] = [];
  cuts.forEach((from, number) => {
    for (const empty of placed)
      if (empty.from === from && empty.to === from) segments.push({ text: '', name: empty.name });
    const to = cuts[number + 1];
    if (to === undefined) return;
    const of = innermost(placed, from, to);
    const last = segments.at(-1);
    if (last?.of && last.of === of) last.text += text.slice(from, to);
    else segments.push({ text: text.slice(from, to), ...(of && { name: of.name, of }) });
  });
  return segments.map(({ text: piece, name }) => (name === undefined ? { text: piece } : { text: piece, name }));
}

function innermost(placed: readonly Placed[], from: number, to: number): Placed | undefined {
  let found: Placed | undefined;
  for (const one of placed)
    if (one.from <= from && one.to >= to && (!found || one.to - one.from < found.to - found.from)) found = one;
  return found;
}

/** The first `most` characters of the segments. */
export function cut(segments: readonly Segment[], most: number): Segment[] {
  const kept: Segment[] = [];
  let left = most;
  for (const segment of segments) {
    if (left <= 0) break;
    kept.push(segment.text.length > left ? { ...segment, text: segment.text.slice(0, left) } : segment);
    left -= segment.text.length;
  }
  return kept;
}

function offsets(text: string): (place: number) => number | undefined {
  if (!/[\ud800-\udbff]/.test(text)) return place => (place <= text.length ? place : undefined);
  const starts: number[] = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  starts.push(at);
  return place => starts[place];
}

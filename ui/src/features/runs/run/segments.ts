import type { RunVariable } from '../api/run';

/** A piece of a prompt; with `name`, the value of that variable, which may be empty. */
export interface Segment {
  text: string;
  name?: string;
}

/**
 * The text cut where variables begin and end. Places count characters as the server does, where JavaScript counts two
 * for some; one that lies outside the text or within another is left out.
 */
export function segmentsOf(text: string, variables: readonly RunVariable[]): Segment[] {
  const at = offsets(text);
  const segments: Segment[] = [];
  let begin = 0;
  for (const variable of [...variables].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const from = at(variable.start);
    const to = at(variable.end);
    if (from === undefined || to === undefined || from < begin || to < from) continue;
    if (from > begin) segments.push({ text: text.slice(begin, from) });
    segments.push({ text: text.slice(from, to), name: variable.name });
    begin = to;
  }
  if (begin < text.length) segments.push({ text: text.slice(begin) });
  return segments;
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

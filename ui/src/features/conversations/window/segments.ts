import type { Window, WindowPart } from '../api/getWindow';
import { looks, type ShownState } from './states';

/** A piece of the bar: a message, or a run of messages of one state. */
export interface Segment {
  state: ShownState;
  tokens: number;
  messages: readonly number[];
}

const MOST = 240; // pieces in a bar; more of them nobody could see or point at

/** What takes room in the window, in its order; behind it what is recalled, which the budget does not count. */
export function shownSegments(window: Window): Segment[] {
  const recalled = (window.recalled ?? []).map(({ tokens }): Segment => ({
    state: 'recalled',
    tokens,
    messages: [],
  }));
  return [...merged(window.parts.filter(part => looks[part.state].isShown).map(segmentOf)), ...recalled];
}

/** The whole thread, in its order. */
export function threadSegments(window: Window): Segment[] {
  return merged(window.parts.filter(part => part.message_ids.length > 0).map(segmentOf));
}

export function tokensOf(segments: readonly { tokens: number }[]): number {
  return segments.reduce((sum, segment) => sum + segment.tokens, 0);
}

function segmentOf(part: WindowPart): Segment {
  return { state: part.state, tokens: part.tokens, messages: part.message_ids };
}

/** Neighbours of one state together, as many as it takes to have few enough. */
function merged(segments: Segment[]): Segment[] {
  const together = Math.ceil(segments.length / MOST);
  if (together < 2) return segments;
  const found: (Segment & { parts: number })[] = [];
  for (const segment of segments) {
    const last = found.at(-1);
    if (last?.state === segment.state && last.parts < together) {
      last.tokens += segment.tokens;
      last.messages = [...last.messages, ...segment.messages];
      last.parts += 1;
    } else {
      found.push({ ...segment, parts: 1 });
    }
  }
  return found;
}

import type { Window, WindowPart } from '@/shared/data/conversations/window';
import { looks, type ShownState } from './states';

/** A piece of the bar: a message, or a run of messages of one state. */
export interface Segment {
  state: ShownState;
  tokens: number;
  messages: number;
  /** The id of its first message. */
  first: number | null;
}

const MOST = 240; // pieces in a bar; more of them nobody could see or point at

/** What takes room in the window, in its order; behind it what is recalled, which the budget does not count. */
export function shownSegments(window: Window): Segment[] {
  const recalled = (window.recalled ?? []).map(({ tokens }): Segment => ({
    state: 'recalled',
    tokens,
    messages: 1,
    first: null,
  }));
  const shown = window.parts.filter(part => looks[part.state].isShown).map(segmentOf);
  return [...merged(shown, Math.max(tokensOf(shown), window.max_tokens)), ...recalled];
}

/** The whole thread, in its order. */
export function threadSegments(window: Window): Segment[] {
  const thread = window.parts.filter(part => part.first_id !== null).map(segmentOf);
  return merged(thread, tokensOf(thread));
}

export function tokensOf(segments: readonly { tokens: number }[]): number {
  return segments.reduce((sum, segment) => sum + segment.tokens, 0);
}

function segmentOf(part: WindowPart): Segment {
  return { state: part.state, tokens: part.tokens, messages: part.messages, first: part.first_id };
}

/** Neighbours of one state together, until a piece is wide enough to be seen in a bar of so many tokens. */
function merged(segments: Segment[], scale: number): Segment[] {
  const least = scale / MOST;
  const found: Segment[] = [];
  for (const segment of segments) {
    const last = found.at(-1);
    const isSmall = segment.tokens < least && segment.messages > 0;
    if (isSmall && last?.state === segment.state && last.tokens < least) {
      last.tokens += segment.tokens;
      last.messages += segment.messages;
    } else {
      found.push({ ...segment });
    }
  }
  return found;
}

import type { Message } from '@/shared/data/conversations/messages';
import type { Window, WindowPart } from '@/shared/data/conversations/window';

export type PartState = WindowPart['state'];
/** As the legend names them; `recalled` stands beside the thread. */
export type ShownState = PartState | 'recalled';

export interface StateLook {
  name: string;
  /** What it means, in a sentence. */
  hint: string;
  /** Whether it takes room in the window. */
  isShown: boolean;
}

export const looks: Record<ShownState, StateLook> = {
  summary: { name: 'Summary', hint: 'replaces the summarised messages', isShown: true },
  note: { name: 'Note', hint: 'other words that the strategy puts in front', isShown: true },
  retained: { name: 'Retained', hint: 'older, but pinned or important: kept word for word', isShown: true },
  kept: { name: 'Kept', hint: 'recent, word for word', isShown: true },
  recalled: { name: 'Recalled', hint: 'added before the question, outside the budget', isShown: true },
  summarised: { name: 'Summarised', hint: 'only in the summary', isShown: false },
  dropped: { name: 'Dropped', hint: 'not shown to the model', isShown: false },
  cleared: { name: 'Cleared', hint: 'said before the context was cleared', isShown: false },
};

/** What became of one message. `tokens` is null for one of a stretch, of which only the sum is known. */
export interface MessageState {
  state: ShownState;
  tokens: number | null;
}

/** What became of a message of the thread with so many others in front of it. */
export type TellState = (message: Message, place: number) => MessageState | undefined;

const IMPORTANT = 0.6; // as the server has it: summaries of the strategy "hybrid" leave such messages out

interface Stretch {
  /** How many messages of the thread are in front of its end. */
  end: number;
  parts: WindowPart[];
}

export function stateTeller(window: Window): TellState {
  const held = new Map<number | null, MessageState>();
  for (const { state, tokens, first_id } of window.parts) {
    if (state === 'kept' || state === 'retained') held.set(first_id, { state, tokens });
  }
  const stretches = stretchesOf(window.parts);
  return (message, place) => {
    const known = held.get(message.id);
    if (known) return known;
    const parts = stretches.find(each => place < each.end)?.parts;
    const part = parts?.find(each => parts.length === 1 || (each.state === 'dropped') === isApart(message));
    // appended since the window was made, or a place between two changes
    if (!part || part.state === 'kept' || part.state === 'retained') return undefined;
    return { state: part.state, tokens: part.messages === 1 ? part.tokens : null };
  };
}

/** Parts that tell of the same messages together. */
function stretchesOf(parts: readonly WindowPart[]): Stretch[] {
  const found: Stretch[] = [];
  let end = 0;
  for (const part of parts) {
    if (part.first_id === null) continue;
    end += part.messages;
    const last = found.at(-1);
    if (last?.parts[0]?.first_id === part.first_id) {
      last.parts.push(part);
      last.end = end;
    } else {
      found.push({ end, parts: [part] });
    }
  }
  return found;
}

function isApart({ role, pinned, importance }: Message): boolean {
  return role === 'system' || pinned || (importance ?? 0) >= IMPORTANT;
}

export interface Total {
  state: ShownState;
  messages: number;
  tokens: number;
}

/** How much there is of each state, in the order of the legend; what there is none of is left out. */
export function totalsOf(window: Window): Total[] {
  const states = Object.keys(looks) as ShownState[];
  return states.flatMap(state => {
    const parts: { tokens: number; messages: number }[] =
      state === 'recalled'
        ? (window.recalled ?? []).map(each => ({ tokens: each.tokens, messages: 1 }))
        : window.parts.filter(part => part.state === state).map(({ tokens, messages }) => ({ tokens, messages }));
    if (parts.length === 0) return [];
    return [{ state, messages: sum(parts, 'messages'), tokens: sum(parts, 'tokens') }];
  });
}

function sum(parts: { tokens: number; messages: number }[], of: 'tokens' | 'messages'): number {
  return parts.reduce((total, part) => total + part[of], 0);
}

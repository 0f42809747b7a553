import type { Window, WindowPart } from '../api/getWindow';

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
  summary: { name: 'Summary', hint: 'stands for what is summarised', isShown: true },
  note: { name: 'Note', hint: 'tells the model that something is left out', isShown: true },
  retained: { name: 'Retained', hint: 'older, but pinned or important: kept word for word', isShown: true },
  kept: { name: 'Kept', hint: 'recent, word for word', isShown: true },
  recalled: { name: 'Recalled', hint: 'put in front of the question, beside the budget', isShown: true },
  summarised: { name: 'Summarised', hint: 'in the summary alone', isShown: false },
  dropped: { name: 'Dropped', hint: 'the model is not shown it', isShown: false },
  cleared: { name: 'Cleared', hint: 'said before the context was begun anew', isShown: false },
};

/** What became of one message. `tokens` is null for one of a run, of which only the sum is known. */
export interface MessageState {
  state: ShownState;
  tokens: number | null;
}

/** By message id. */
export function statesOf(window: Window): Map<number, MessageState> {
  const found = new Map<number, MessageState>();
  for (const part of window.parts) {
    const tokens = part.message_ids.length === 1 ? part.tokens : null;
    for (const id of part.message_ids) found.set(id, { state: part.state, tokens });
  }
  return found;
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
        : window.parts
            .filter(part => part.state === state)
            .map(part => ({ tokens: part.tokens, messages: part.message_ids.length }));
    if (parts.length === 0) return [];
    return [{ state, messages: sum(parts, 'messages'), tokens: sum(parts, 'tokens') }];
  });
}

function sum(parts: { tokens: number; messages: number }[], of: 'tokens' | 'messages'): number {
  return parts.reduce((total, part) => total + part[of], 0);
}

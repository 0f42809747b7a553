import type { Mode, Role } from '@/shared/data/conversations/found';
import type { Strategy } from '@/shared/data/conversations/window';
import { changed, type ParamChanges, useAddressParams } from '@/shared/hooks/useAddressParams';

export type Tab = 'transcript' | 'window' | 'discussion' | 'nodes';

/** What of the page is in its address. */
export interface Address {
  /** The conversation that is looked at; "" for none. */
  id: string;
  tab: Tab;
  /** The message to be shown, on whichever branch. */
  message: number | null;
  q: string;
  mode: Mode;
  role: Role | '';
  /** Days, `2026-11-22`; both count in. */
  since: string;
  until: string;
  strategy: Strategy | '';
  /** Tokens; null for what the server's settings say. */
  budget: number | null;
  /** A question: what would be recalled for it. */
  question: string;
}

export type Change = Partial<Record<keyof Address, string | number | null>>;

const one = <Word extends string>(words: readonly Word[], value: string | null, otherwise: Word): Word =>
  words.find(word => word === value) ?? otherwise;

/** The state of the page, and ways to change some of it: at once, or by a link. */
export function useAddress() {
  const { params, change } = useAddressParams();
  const get = (name: keyof Address) => params.get(name) ?? '';

  const address: Address = {
    id: get('id'),
    tab: one(['transcript', 'window', 'discussion', 'nodes'], get('tab'), 'transcript'),
    message: wholeNumber(get('message')),
    q: get('q'),
    mode: one(['hybrid', 'keyword', 'semantic'], get('mode'), 'hybrid'),
    role: one(['user', 'assistant', 'system', 'tool', ''], get('role'), ''),
    since: day(get('since')),
    until: day(get('until')),
    strategy: one(['simple', 'summarization', 'hybrid', ''], get('strategy'), ''),
    budget: wholeNumber(get('budget')),
    question: get('question'),
  };
  return {
    address,
    change: (changes: Change, replace = true) => change(written(changes), { replace }),
    linkTo: (changes: Change) => `?${changed(params, written(changes)).toString()}`,
  };
}

function written(changes: Change): ParamChanges {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [name, value === null ? null : String(value)]),
  );
}

function wholeNumber(text: string): number | null {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}

function day(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : '';
}

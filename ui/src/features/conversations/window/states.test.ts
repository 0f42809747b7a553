import type { Message } from '@/shared/data/conversations/messages';
import type { Window } from '@/shared/data/conversations/window';
import { shownSegments, threadSegments } from './segments';
import { stateTeller, totalsOf } from './states';

function windowOf(parts: Window['parts'], more: Partial<Window> = {}): Window {
  return {
    ...{ strategy: 'hybrid' as const, max_tokens: 100, tokens: 30, messages: [], summary: null },
    ...{ recalled: null, recalls: false, parts },
    ...more,
  };
}

type Part = Window['parts'][number];

const part = (state: Part['state'], first_id: number | null, messages: number, tokens: number): Part => ({
  ...{ state, tokens, messages, first_id, role: null, text: null },
  last_id: first_id && first_id + messages - 1,
});
const message = (id: number, more: Partial<Message> = {}) =>
  ({ id, role: 'user', pinned: false, ...more }) as Message;

const window = windowOf(
  [
    part('summary', null, 0, 10),
    part('summarised', 1, 2, 200),
    part('retained', 3, 1, 5),
    part('dropped', 4, 1, 20),
    part('kept', 5, 1, 15),
  ],
  { recalled: [{ role: 'user', text: 'Before', tokens: 4 }] },
);

describe('a window', () => {
  it('tells what became of a message, and the tokens of one that is told alone', () => {
    const tell = stateTeller(window);
    expect([1, 2, 3, 4, 5, 6].map(id => tell(message(id), id - 1))).toEqual([
      { state: 'summarised', tokens: null },
      { state: 'summarised', tokens: null },
      { state: 'retained', tokens: 5 },
      { state: 'dropped', tokens: 20 },
      { state: 'kept', tokens: 15 },
      undefined,
    ]);
  });

  it('tells of a stretch that is partly summarised by what counts as important', () => {
    const tell = stateTeller(windowOf([part('summarised', 1, 80_000, 9), part('dropped', 1, 20_000, 9)]));
    const states = [{}, { pinned: true }, { importance: 0.7 }, { importance: 0.2 }, { role: 'system' as const }];
    expect(states.map(more => tell(message(9, more), 90_000)?.state)).toEqual([
      ...['summarised', 'dropped', 'dropped', 'summarised', 'dropped'],
    ]);
  });

  it('is added up by state, with what is recalled', () => {
    expect(totalsOf(window)).toEqual([
      { state: 'summary', messages: 0, tokens: 10 },
      { state: 'retained', messages: 1, tokens: 5 },
      { state: 'kept', messages: 1, tokens: 15 },
      { state: 'recalled', messages: 1, tokens: 4 },
      { state: 'summarised', messages: 2, tokens: 200 },
      { state: 'dropped', messages: 1, tokens: 20 },
    ]);
  });

  it('has one bar of what it holds and one of the thread', () => {
    expect(shownSegments(window).map(segment => segment.state)).toEqual(['summary', 'retained', 'kept', 'recalled']);
    expect(threadSegments(window).map(segment => segment.state)).toEqual([
      ...['summarised', 'retained', 'dropped', 'kept'],
    ]);
  });

  it('has few pieces however many messages it holds, and loses none', () => {
    const many = windowOf(Array.from({ length: 5000 }, (_, at) => part('kept', at + 1, 1, 2)));
    const pieces = shownSegments(many);
    expect(pieces.length).toBeLessThanOrEqual(240);
    expect(pieces.reduce((sum, piece) => sum + piece.tokens, 0)).toBe(10_000);
    expect(pieces.reduce((sum, piece) => sum + piece.messages, 0)).toBe(5000);
  });
});

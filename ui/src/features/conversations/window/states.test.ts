import type { Window } from '../api/getWindow';
import { shownSegments, threadSegments } from './segments';
import { statesOf, totalsOf } from './states';

function windowOf(parts: Window['parts'], more: Partial<Window> = {}): Window {
  return {
    ...{ strategy: 'hybrid' as const, max_tokens: 100, tokens: 30, messages: [], summary: null },
    ...{ recalled: null, recalls: false, parts },
    ...more,
  };
}

const part = (state: Window['parts'][number]['state'], ids: number[], tokens: number) => ({
  state,
  tokens,
  message_ids: ids,
  role: null,
  text: null,
});

const window = windowOf(
  [part('summary', [], 10), part('summarised', [1, 2], 200), part('retained', [3], 5), part('kept', [4], 15)],
  { recalled: [{ role: 'user', text: 'Before', tokens: 4 }] },
);

describe('a window', () => {
  it('tells the state of every message, and the tokens of those that are told alone', () => {
    expect([...statesOf(window)]).toEqual([
      [1, { state: 'summarised', tokens: null }],
      [2, { state: 'summarised', tokens: null }],
      [3, { state: 'retained', tokens: 5 }],
      [4, { state: 'kept', tokens: 15 }],
    ]);
  });

  it('is added up by state, with what is recalled', () => {
    expect(totalsOf(window)).toEqual([
      { state: 'summary', messages: 0, tokens: 10 },
      { state: 'retained', messages: 1, tokens: 5 },
      { state: 'kept', messages: 1, tokens: 15 },
      { state: 'recalled', messages: 1, tokens: 4 },
      { state: 'summarised', messages: 2, tokens: 200 },
    ]);
  });

  it('has one bar of what it holds and one of the thread', () => {
    expect(shownSegments(window).map(segment => segment.state)).toEqual(['summary', 'retained', 'kept', 'recalled']);
    expect(threadSegments(window).map(segment => segment.state)).toEqual(['summarised', 'retained', 'kept']);
  });

  it('has few pieces however many messages it holds, and loses none', () => {
    const many = windowOf(Array.from({ length: 5000 }, (_, at) => part('kept', [at + 1], 2)));
    const pieces = shownSegments(many);
    expect(pieces.length).toBeLessThanOrEqual(240);
    expect(pieces.reduce((sum, piece) => sum + piece.tokens, 0)).toBe(10_000);
    expect(pieces.flatMap(piece => piece.messages)).toHaveLength(5000);
  });
});

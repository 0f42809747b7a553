import { act, renderHook } from '@testing-library/react';
import type { Question } from '@/shared/data/completions';
import { beginTurn, endTurn, failTurn, stopTurn, takePiece, thoughtsOf, turnOf, useTurn } from './turns';

const tea: Question = {
  ...{ user: 'user', project: 'default', conversation: 'tea', parentId: 0, text: 'Which tea?' },
  ...{ images: [], model: '', memoryEnabled: false, systemPrompt: '', temperature: null },
};

afterEach(() => {
  vi.useRealTimers();
  endTurn(tea);
});

test('a turn is asked, answered once its question is stored, and gone when it ends', () => {
  const signal = beginTurn(tea, null);
  expect(turnOf(tea)).toMatchObject({ question: tea, state: 'asking', isKept: false, text: '' });
  takePiece(tea, { runId: 'r1' });
  takePiece(tea, { text: 'Green ' });
  takePiece(tea, { text: 'tea.' });
  expect(turnOf(tea)).toMatchObject({ state: 'answering', isKept: true, runId: 'r1', text: 'Green tea.' });
  endTurn(tea);
  expect([turnOf(tea), signal.aborted]).toEqual([undefined, false]);
});

test('each conversation of each user in each project has a turn of its own', () => {
  beginTurn(tea, null);
  for (const other of [{ conversation: 'pots' }, { user: 'mira' }, { project: 'garden' }])
    expect(turnOf({ ...tea, ...other })).toBeUndefined();
});

test('a stop ends the request; the turn stays until what came of it is known', () => {
  const signal = beginTurn(tea, null);
  takePiece(tea, { text: 'Gre' });
  stopTurn(tea);
  expect(signal.aborted).toBe(true);
  expect(turnOf(tea)?.text).toBe('Gre');
  stopTurn({ ...tea, conversation: 'one without a turn' });
});

test('a failed turn stays with its cause until another one takes its place', () => {
  const signal = beginTurn(tea, 7);
  const error = new Error('The model is gone.');
  failTurn(tea, error, true);
  expect(turnOf(tea)).toMatchObject({ state: 'failed', again: 7, isKept: true, error });
  stopTurn(tea);
  expect(signal.aborted).toBe(false); // nothing is under way any longer
  beginTurn(tea, null);
  expect(turnOf(tea)).toMatchObject({ state: 'asking', again: null, error: null });
});

test('what comes behind the end of a turn is dropped', () => {
  beginTurn(tea, null);
  endTurn(tea);
  takePiece(tea, { text: 'late' });
  failTurn(tea, new Error('late'), false);
  expect(turnOf(tea)).toBeUndefined();
});

test('thoughts outlive their turn, by its run', () => {
  beginTurn(tea, null);
  takePiece(tea, { runId: 'r2' });
  takePiece(tea, { thinking: 'Let me ' });
  takePiece(tea, { thinking: 'count.' });
  endTurn(tea);
  expect([thoughtsOf('r2'), thoughtsOf('another run'), thoughtsOf(null)]).toEqual(['Let me count.', '', '']);
});

test('pieces are shown together with the next frame, the beginning and the end at once', () => {
  vi.useFakeTimers();
  const shown: (string | undefined)[] = [];
  renderHook(() => shown.push(useTurn(tea)?.text));
  act(() => void beginTurn(tea, null));
  act(() => ['Green ', 'tea.'].forEach(text => takePiece(tea, { text })));
  expect(shown.at(-1)).toBe('');
  act(() => void vi.advanceTimersToNextFrame());
  expect(shown).toEqual([undefined, '', 'Green tea.']);
  act(() => endTurn(tea));
  expect(shown.at(-1)).toBeUndefined();
});

import { useSyncExternalStore } from 'react';
import { ApiError, isOfNetwork } from '@/shared/api/errors';
import type { Piece, Question } from '@/shared/data/completions';
import type { Place } from '@/shared/data/scope';

/**
 * The turns of this page: for each conversation at most one question that is being answered, or could not be.
 *
 * They stand outside React and outside the cache of queries, because an answer goes on while another page is shown, and
 * because it is not what the server has stored until it is complete.
 *
 * - It owns the turns, what ends their requests, and the thoughts of answers by run. All of it goes with the page.
 * - Writers: `ask` and `takeUp` in talk.ts begin a turn, hand it its pieces, and end or fail it. `useTalk` stops it, which ends
 *   the request only, and ends a failed one that is taken back or dismissed.
 * - A turn ends when its thread is read anew with what is stored of it; a failed one stays until then, or until the next
 *   one of its conversation begins. What comes behind the end is dropped. Thoughts stay, as the server keeps none.
 * - Readers: `useTurn` gives what is to be shown, at most once a frame; `turnOf` what is known at this moment.
 */

/** A question that is being answered, or could not be. */
export interface Turn {
  question: Question;
  /** The stored question that gets another answer; null for a new one. */
  again: number | null;
  state: 'asking' | 'answering' | 'failed';
  /** The server has stored the question. */
  isKept: boolean;
  runId: string;
  text: string;
  thinking: string;
  /** The connection broke, and is looked for again. */
  isLost: boolean;
  error: unknown;
}

const SHORT = 4_000; // characters; a longer answer takes longer to lay out, and is shown in larger steps
const CHARACTERS_A_MS = 250;

/** Thinking is not stored with answers; while the page lasts it is shown, by the run that it belongs to. */
const thoughts = new Map<string, string>();

/** The runs that have ended, as far as is known here: what still tells of an answer under way is out of date. */
const ended = new Set<string>();

const turns = new Map<string, Turn>();
const controllers = new Map<string, AbortController>();
const shown = new Map<string, Turn>();
const listeners = new Set<() => void>();
const scheduled = new Set<string>();

export function keyOf({ user, project, conversation }: Place): string {
  return JSON.stringify([project, user, conversation]);
}

export function turnOf(place: Place): Turn | undefined {
  return turns.get(keyOf(place));
}

/** Begins a turn; the signal ends when it is stopped. `isKept`: its question is stored already. */
export function beginTurn(question: Question, again: number | null, isKept = false): AbortSignal {
  const controller = new AbortController();
  const key = keyOf(question);
  controllers.set(key, controller);
  const nothing = { runId: '', text: '', thinking: '', isLost: false, error: null };
  turns.set(key, { question, again, state: 'asking', isKept, ...nothing });
  show(key);
  return controller.signal;
}

export function takePiece(place: Place, piece: Piece): void {
  const key = keyOf(place);
  const turn = turns.get(key);
  if (!turn) return;
  if ('runId' in piece) turns.set(key, begun(turn, piece));
  else if ('isLost' in piece) turns.set(key, { ...turn, isLost: true });
  else if ('text' in piece) turns.set(key, { ...turn, text: turn.text + piece.text });
  else turns.set(key, { ...turn, thinking: turn.thinking + piece.thinking });
  schedule(key, turn.text.length);
}

function begun(turn: Turn, { runId, isAnew = false }: { runId: string; isAnew?: boolean }): Turn {
  const anew = isAnew ? { text: '', thinking: '' } : {};
  return { ...turn, ...anew, state: 'answering', isKept: true, isLost: false, runId };
}

export function failTurn(place: Place, error: unknown, isKept: boolean): void {
  const key = keyOf(place);
  const turn = turns.get(key);
  controllers.delete(key);
  // an error in place of a head tells the run itself
  if (turn && !isOfNetwork(error)) ended.add(turn.runId || (error instanceof ApiError && error.runId) || '');
  if (turn) turns.set(key, { ...turn, state: 'failed', error, isKept });
  show(key);
}

export function endTurn(place: Place): void {
  const key = keyOf(place);
  const turn = turns.get(key);
  if (turn) ended.add(turn.runId);
  if (turn?.thinking) thoughts.set(turn.runId, turn.thinking);
  turns.delete(key);
  controllers.delete(key);
  show(key);
}

export function hasEnded(runId: string): boolean {
  return ended.has(runId);
}

/** What was thought before the answer of a run; "" when that is not known here. */
export function thoughtsOf(runId: string | null): string {
  return thoughts.get(runId ?? '') ?? '';
}

export function stopTurn(place: Place): void {
  controllers.get(keyOf(place))?.abort();
}

/** The turn of the conversation as it is to be shown: a new one at most once a frame. */
export function useTurn(place: Place): Turn | undefined {
  const key = keyOf(place);
  return useSyncExternalStore(subscribe, () => shown.get(key));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function schedule(key: string, length: number): void {
  if (scheduled.has(key)) return;
  scheduled.add(key);
  const run = () => {
    if (scheduled.delete(key)) show(key);
  };
  if (length < SHORT) requestAnimationFrame(run);
  else setTimeout(() => requestAnimationFrame(run), length / CHARACTERS_A_MS);
}

function show(key: string): void {
  scheduled.delete(key);
  const turn = turns.get(key);
  if (turn) shown.set(key, turn);
  else shown.delete(key);
  for (const listener of listeners) listener();
}

import { isBySession, send } from '@/shared/api/client';
import { ApiError, isOfNetwork, unreachable } from '@/shared/api/errors';
import { addressOf, encoded } from '@/shared/api/paths';
import type { components } from '@/shared/api/schema';
import { serverEvents } from '@/shared/api/sse';
import { watchConnection } from './connection';
import { type LiveAnswer, liveAnswers } from './conversations/liveAnswers';
import { pause } from './pause';
import { inScope, type Place } from './scope';

type Body = components['schemas']['ChatCompletionBody'];
type Chunk = components['schemas']['ChatCompletionChunk'];
type Failure = components['schemas']['OpenAIErrorBody'];

/** What the model of one chat is told besides its messages. */
export interface ChatOptions {
  /** "" for none. */
  systemPrompt: string;
  /** 0 to 2; null for the model's own. */
  temperature: number | null;
}

/** A message on its way, and where it belongs. */
export interface Question extends Place, ChatOptions {
  /** The stored message that it stands behind; 0 for the beginning. */
  parentId: number;
  text: string;
  /** data: URLs */
  images: string[];
  /** "" for the server's choice. */
  model: string;
  memoryEnabled: boolean;
}

/** A message that a workflow is tried on. */
export interface Trial {
  model: string;
  message: string;
  /** data: URLs */
  images: string[];
  user: string;
  project: string;
}

/**
 * A piece of an answer as it comes in. The first one tells that the question is stored, and so does that behind a broken
 * connection; `isAnew` says that the answer is told from its beginning.
 */
export type Piece = { runId: string; isAnew?: boolean } | { text: string } | { thinking: string } | { isLost: true };

/** How far an answer was read: its run, and the number of its last event. */
interface Reading {
  runId: string;
  number: number;
}

const WAITS_MS = [0, 500, 1_000, 2_000, 4_000]; // before each try to take up an answer

/**
 * Asks, and gives the answer piece by piece; one whose connection broke is taken up again. Throws ApiError; aborting the
 * signal ends it with an AbortError, while the server goes on.
 */
export async function* answerTo(question: Question, signal: AbortSignal): AsyncGenerator<Piece> {
  const { conversation, user, parentId, text, images, model, memoryEnabled, systemPrompt, temperature } = question;
  const said = saying(text, images).messages;
  const body = {
    ...(model && { model }),
    user,
    conversation_id: conversation,
    history: 'server' as const,
    store: true,
    parent_id: parentId,
    ...(memoryEnabled && { memoryEnabled: true }),
    ...(temperature !== null && { temperature }),
    messages: systemPrompt ? [{ role: 'system' as const, content: systemPrompt }, ...said] : said,
  };
  const reading: Reading = { runId: '', number: 0 };
  try {
    const begins = parentId === 0 && { 'X-Mnemoir-Title': '1' };
    yield* completion(question.project, body, { 'X-Mnemoir-Resume': '1', ...begins }, signal, reading);
  } catch (error) {
    if (!isOfNetwork(error) || !reading.runId) throw error;
    yield { isLost: true };
    yield* goingOn(question, reading, signal);
  }
}

/** The pieces of an answer that is under way on the server, from its beginning. */
export function answerUnderWay(place: Place, { run_id }: LiveAnswer, signal: AbortSignal): AsyncGenerator<Piece> {
  return goingOn(place, { runId: run_id, number: 0 }, signal);
}

/** Runs a workflow on one message, as any chat would; nothing of it is stored or remembered. */
export function answerOfTrial(trial: Trial, signal: AbortSignal): AsyncGenerator<Piece> {
  const { project, model, user, message, images } = trial;
  return completion(project, { model, user, ...saying(message, images) }, { 'X-Mnemoir-Task': 'trial' }, signal);
}

/** Runs a workflow as it is typed; nothing is touched or kept, and the run itself comes at the end. */
export async function* answerOfTyped(
  trial: Trial,
  typed: { path: string; text: string },
  signal: AbortSignal,
): AsyncGenerator<{ text: string } | { run: components['schemas']['RunTrace'] }> {
  const { project, model, user, message, images } = trial;
  const request = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...typed, model, user, ...saying(message, images) }),
  };
  let isWhole = false;
  const events = whileConnected(signal, async function* (connected) {
    const { body } = await send(addressOf('/api/workflows/try', { project }), { ...request, signal: connected });
    if (body) yield* serverEvents(body);
  });
  for await (const data of events) {
    const { text, thinking, run, error } = JSON.parse(data) as components['schemas']['TrialEvent'];
    if (text) yield { text };
    if (run) yield { run };
    isWhole = text === undefined && thinking === undefined; // the last event is no piece of the answer
    if (error) throw new ApiError(502, error.code, error.message);
  }
  if (!isWhole) throw cutOff();
}

function saying(text: string, images: string[]): Pick<Body, 'messages'> {
  const pictures = images.map(url => ({ type: 'image_url', image_url: { url } }));
  const words = text ? [{ type: 'text', text }] : [];
  return { messages: [{ role: 'user', content: pictures.length ? [...pictures, ...words] : text }] };
}

function completion(
  project: string,
  body: Body,
  headers: Record<string, string>,
  signal: AbortSignal,
  reading: Reading = { runId: '', number: 0 },
): AsyncGenerator<Piece> {
  const request = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ ...body, stream: true }),
  };
  const route = isBySession() ? '/api/page/chat/completions' : '/v1/chat/completions';
  return read(addressOf(route, { project }), request, reading, signal);
}

/** Takes up an answer behind what was read of it. Throws `ended` for one that has ended meanwhile: it is stored. */
async function* goingOn(place: Place, reading: Reading, signal: AbortSignal): AsyncGenerator<Piece> {
  const { conversation, ...scope } = place;
  let hasEnded = false;
  for (const waitMs of WAITS_MS) {
    await pause(waitMs, signal);
    signal.throwIfAborted();
    try {
      const answer = (await liveAnswers(place)).find(({ run_id }) => run_id === reading.runId);
      hasEnded = !answer;
      if (!answer) break;
      const path = `/api/conversations/${encoded(conversation)}/answers/${answer.id}`;
      const headers = { 'Last-Event-ID': String(reading.number) };
      yield* read(addressOf(path, inScope(scope)), { headers }, reading, signal);
      return;
    } catch (error) {
      hasEnded = error instanceof ApiError && error.status === 404;
      if (hasEnded) break;
      if (!isOfNetwork(error)) throw error;
      yield { isLost: true };
    }
  }
  throw hasEnded ? cutOff('ended') : cutOff();
}

function read(path: string, request: RequestInit, reading: Reading, signal: AbortSignal): AsyncGenerator<Piece> {
  return whileConnected(signal, async function* (connected) {
    const answer = await send(path, { ...request, signal: connected });
    reading.runId = answer.headers.get('X-Workflow-Run-Id') ?? '';
    yield { runId: reading.runId, isAnew: answer.headers.get('X-Mnemoir-After') === '0' };
    if (answer.body)
      for await (const data of serverEvents(answer.body, id => (reading.number = Number(id)))) {
        if (data === '[DONE]') return;
        yield* piecesOf(data);
      }
    throw cutOff();
  });
}

/** What is read until the connection breaks, of which the browser tells in words of its own. */
async function* whileConnected<T>(
  signal: AbortSignal,
  reading: (connected: AbortSignal) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const connection = watchConnection();
  try {
    yield* reading(AbortSignal.any([signal, connection.lost]));
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) throw error;
    throw connection.lost.aborted ? unreachable() : cutOff();
  } finally {
    connection.unwatch();
  }
}

/** `ended`: there is no more of it than what is stored. */
const cutOff = (code: 'cut_off' | 'ended' = 'cut_off') =>
  new ApiError(0, code, 'The connection to the server was lost before the answer was complete.');

function* piecesOf(data: string): Generator<Piece> {
  const event = JSON.parse(data) as Partial<Chunk> & { error?: Failure };
  if (event.error) throw new ApiError(502, event.error.code, event.error.message);
  for (const { delta } of event.choices ?? []) {
    if (delta.reasoning_content) yield { thinking: delta.reasoning_content };
    if (delta.content) yield { text: delta.content };
  }
}

import { send } from '@/shared/api/client';
import { ApiError } from '@/shared/api/errors';
import { addressOf } from '@/shared/api/paths';
import type { components } from '@/shared/api/schema';
import { serverEvents } from '@/shared/api/sse';
import type { Place } from './scope';

type Body = components['schemas']['ChatCompletionBody'];
type Chunk = components['schemas']['ChatCompletionChunk'];
type Failure = components['schemas']['OpenAIErrorBody'];

/** A message on its way, and where it belongs. */
export interface Question extends Place {
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

/** A piece of an answer as it comes in. The first one tells that the question is stored. */
export type Piece = { runId: string } | { text: string } | { thinking: string };

/** Asks, and gives the answer piece by piece. Throws ApiError; aborting the signal ends it with an AbortError. */
export function answerTo(question: Question, signal: AbortSignal): AsyncGenerator<Piece> {
  const { conversation, user, parentId, text, images, model, memoryEnabled } = question;
  const body = {
    ...(model && { model }),
    user,
    conversation_id: conversation,
    history: 'server' as const,
    store: true,
    parent_id: parentId,
    ...(memoryEnabled && { memoryEnabled: true }),
    ...saying(text, images),
  };
  return completion(question.project, body, {}, signal);
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
  const answer = await send(addressOf('/api/workflows/try', { project }), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...typed, model, user, ...saying(message, images) }),
    signal,
  });
  let isWhole = false;
  if (answer.body)
    for await (const data of whileConnected(serverEvents(answer.body))) {
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

async function* completion(
  project: string,
  body: Body,
  headers: Record<string, string>,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  const answer = await send(addressOf('/v1/chat/completions', { project }), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ ...body, stream: true }),
    signal,
  });
  yield { runId: answer.headers.get('X-Workflow-Run-Id') ?? '' };
  if (answer.body)
    for await (const data of whileConnected(serverEvents(answer.body))) {
      if (data === '[DONE]') return;
      yield* piecesOf(data);
    }
  throw cutOff();
}

/** The browser tells of a broken connection in words of its own. */
async function* whileConnected(events: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* events;
  } catch (error) {
    throw error instanceof DOMException && error.name === 'AbortError' ? error : cutOff();
  }
}

const cutOff = () =>
  new ApiError(0, 'cut_off', 'The connection to the server was lost before the answer was complete.');

function* piecesOf(data: string): Generator<Piece> {
  const event = JSON.parse(data) as Partial<Chunk> & { error?: Failure };
  if (event.error) throw new ApiError(502, event.error.code, event.error.message);
  for (const { delta } of event.choices ?? []) {
    if (delta.reasoning_content) yield { thinking: delta.reasoning_content };
    if (delta.content) yield { text: delta.content };
  }
}

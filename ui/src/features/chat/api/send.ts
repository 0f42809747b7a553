import { ApiError, send } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { serverEvents } from '@/shared/api/sse';
import type { Place } from './thread';

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

/** A piece of an answer as it comes in. The first one tells that the question is stored. */
export type Piece = { runId: string } | { text: string } | { thinking: string };

/** Asks, and gives the answer piece by piece. Throws ApiError; aborting the signal ends it with an AbortError. */
export async function* answerTo(question: Question, signal: AbortSignal): AsyncGenerator<Piece> {
  const response = await send(
    `/v1/chat/completions?${new URLSearchParams({ project: question.project }).toString()}`,
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(bodyOf(question)),
      signal,
    },
  );
  yield { runId: response.headers.get('X-Workflow-Run-Id') ?? '' };
  if (response.body)
    for await (const data of serverEvents(response.body)) {
      if (data === '[DONE]') return;
      yield* piecesOf(data);
    }
  throw new ApiError(0, 'cut_off', 'The connection to the server was lost before the answer was complete.');
}

export function bodyOf(question: Question): Body {
  const { conversation, user, parentId, text, images, model, memoryEnabled } = question;
  const pictures = images.map(url => ({ type: 'image_url', image_url: { url } }));
  const words = text ? [{ type: 'text', text }] : [];
  return {
    ...(model && { model }),
    stream: true,
    user,
    conversation_id: conversation,
    history: 'server',
    store: true,
    parent_id: parentId,
    ...(memoryEnabled && { memoryEnabled: true }),
    messages: [{ role: 'user', content: pictures.length ? [...pictures, ...words] : text }],
  };
}

function* piecesOf(data: string): Generator<Piece> {
  const event = JSON.parse(data) as Partial<Chunk> & { error?: Failure };
  if (event.error) throw new ApiError(502, event.error.code, event.error.message);
  for (const { delta } of event.choices ?? []) {
    if (delta.reasoning_content) yield { thinking: delta.reasoning_content };
    if (delta.content) yield { text: delta.content };
  }
}

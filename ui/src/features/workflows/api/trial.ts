import { ApiError, send } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { serverEvents } from '@/shared/api/sse';

type Body = components['schemas']['ChatCompletionBody'];
type Chunk = components['schemas']['ChatCompletionChunk'];
type Failure = components['schemas']['OpenAIErrorBody'];

export interface Trial {
  model: string;
  message: string;
  /** data: URLs */
  images: string[];
  user: string;
  project: string;
}

export type TrialPiece = { runId: string } | { text: string };

/** Runs a workflow on one message, as any chat would; nothing of it is stored or remembered. */
export async function* answerOfTrial(trial: Trial, signal: AbortSignal): AsyncGenerator<TrialPiece> {
  const response = await send(`/v1/chat/completions?${new URLSearchParams({ project: trial.project }).toString()}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Mnemoir-Task': 'trial' },
    body: JSON.stringify(bodyOf(trial)),
    signal,
  });
  yield { runId: response.headers.get('X-Workflow-Run-Id') ?? '' };
  if (response.body)
    for await (const data of serverEvents(response.body)) {
      if (data === '[DONE]') return;
      const event = JSON.parse(data) as Partial<Chunk> & { error?: Failure };
      if (event.error) throw new ApiError(502, event.error.code, event.error.message);
      const text = event.choices?.[0]?.delta.content;
      if (text) yield { text };
    }
  throw new ApiError(0, 'cut_off', 'The connection to the server was lost before the answer was complete.');
}

function bodyOf({ model, user, message, images }: Trial): Body {
  const pictures = images.map(url => ({ type: 'image_url', image_url: { url } }));
  const content = pictures.length ? [...pictures, { type: 'text', text: message }] : message;
  return { model, user, stream: true, messages: [{ role: 'user', content }] };
}

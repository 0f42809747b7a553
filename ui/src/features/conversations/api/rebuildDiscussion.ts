import { ApiError, send } from '@/shared/api/client';

/** How far a rebuild is, in chunks. */
export interface RebuildStep {
  done: number;
  all: number;
  finished: boolean;
  notes: string[];
}

type Line = RebuildStep | { error: string; code: string };

/** Makes all memories of a discussion anew; what fails on the way is thrown. Aborting ends it. */
export async function* rebuild(id: string, signal: AbortSignal): AsyncGenerator<RebuildStep> {
  const answer = await send(`/api/discussions/${encodeURIComponent(id)}/rebuild`, { method: 'POST', signal });
  if (!answer.body) return;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of answer.body) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim()) yield step(line);
  }
  if (rest.trim()) yield step(rest);
}

function step(line: string): RebuildStep {
  const told = JSON.parse(line) as Line;
  if ('error' in told) throw new ApiError(0, told.code, told.error);
  return told;
}

/** What a rebuild would ask a model about. */
export interface RebuildPlan {
  chunks: number;
  messages: number;
  tokens: number;
}

export async function planRebuild(id: string): Promise<RebuildPlan> {
  const answer = await send(`/api/discussions/${encodeURIComponent(id)}/rebuild?dry_run=true`, { method: 'POST' });
  return (await answer.json()) as RebuildPlan;
}

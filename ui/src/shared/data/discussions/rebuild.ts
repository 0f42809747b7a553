import { send } from '@/shared/api/client';
import { ApiError } from '@/shared/api/errors';
import { encoded } from '@/shared/api/paths';
import { useChange } from '../change';
import { discussionKeys as keys } from './keys';

/** How far a rebuild is, in chunks. */
export interface RebuildStep {
  done: number;
  all: number;
  finished: boolean;
  notes: string[];
}

/** What a rebuild would ask a model about. */
export interface RebuildPlan {
  chunks: number;
  messages: number;
  tokens: number;
}

interface Rebuild {
  /** Whether to do what is planned. */
  agree: (plan: RebuildPlan) => Promise<boolean>;
  /** Called when it begins; aborting the signal ends it. */
  begin: () => AbortSignal;
  onStep: (step: RebuildStep) => void;
}

/** Makes all memories of a discussion anew; what fails on the way is thrown. */
export function useRebuild(id: string) {
  return useChange(
    async ({ agree, begin, onStep }: Rebuild) => {
      const plan = (await (await rebuild(id, '?dry_run=true')).json()) as RebuildPlan;
      if (!(await agree(plan))) return;
      const { body } = await rebuild(id, '', begin());
      if (body) for await (const line of linesOf(body)) onStep(stepOf(line));
    },
    [keys.one(id)],
  );
}

function rebuild(id: string, query: string, signal: AbortSignal | null = null): Promise<Response> {
  return send(`/api/discussions/${encoded(id)}/rebuild${query}`, { method: 'POST', signal });
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim()) yield line;
  }
  if (rest.trim()) yield rest;
}

function stepOf(line: string): RebuildStep {
  const told = JSON.parse(line) as RebuildStep | { error: string; code: string };
  if ('error' in told) throw new ApiError(0, told.code, told.error);
  return told;
}

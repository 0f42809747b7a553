import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, send, unwrap } from '@/shared/api/client';
import { saveFile } from '@/shared/api/saveFile';
import type { components } from '@/shared/api/schema';
import { MEMORIES, type Owner } from './keys';

export type ImportAnswer = components['schemas']['ImportAnswer'];

const addressOf = (path: string, values: Record<string, string>) =>
  `${path}?${new URLSearchParams(values).toString()}`;

/** Saves all memories of the user, one a line, with their history. */
export function useExport({ user, project }: Owner) {
  return useMutation({
    mutationFn: async () => {
      const answer = await send(addressOf('/api/export', { user_id: user, project }));
      saveFile(await answer.blob(), `memories-${project}.jsonl`);
    },
  });
}

/** Adds the memories of a file; those that are there already are left alone. */
export function useImport({ project }: Owner) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (file: File) => {
      const answer = await send(addressOf('/api/import', { project }), { method: 'POST', body: file });
      return (await answer.json()) as ImportAnswer;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: MEMORIES }),
  });
}

/** Forgets every memory of the user; nothing brings them back. */
export function useForgetEverything({ user, project }: Owner) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(client.DELETE('/api/memories', { params: { query: { user_id: user, project } } })),
    onSettled: () => queries.invalidateQueries(),
  });
}

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { send } from '@/shared/api/client';
import { saveFile } from '@/shared/api/saveFile';
import type { components } from '@/shared/api/schema';
import { MEMORIES, type Owner } from './keys';
import { piecesOf } from './pieces';

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

/** How far an import has come: `share` of the file is done, 0 to 1. */
export interface Imported extends Pick<ImportAnswer, 'imported' | 'skipped'> {
  share: number;
}

/** Adds the memories of a file, piece by piece; those that are there already are left alone. */
export function useImport({ project }: Owner, onPiece: (done: Imported) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (file: File) => {
      let done: Imported = { imported: 0, skipped: 0, share: 0 };
      let sent = 0;
      for await (const piece of piecesOf(file)) {
        const answer = await send(addressOf('/api/import', { project }), { method: 'POST', body: piece });
        const { imported, skipped } = (await answer.json()) as ImportAnswer;
        sent += piece.size;
        done = { imported: done.imported + imported, skipped: done.skipped + skipped, share: sent / file.size };
        onPiece(done);
      }
      return done;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: MEMORIES }),
  });
}

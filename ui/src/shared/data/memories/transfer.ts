import { useMutation } from '@tanstack/react-query';
import { send } from '@/shared/api/client';
import { addressOf } from '@/shared/api/paths';
import { saveFile } from '@/shared/files/files';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { inScope, type Scope } from '../scope';
import { MEMORIES_CHANGED } from './keys';
import { piecesOf } from './pieces';

type ImportAnswer = components['schemas']['ImportAnswer'];

/** Saves all memories of the user, one a line, with their history. */
export function useExport(scope: Scope) {
  return useMutation({
    mutationFn: async () => {
      const answer = await send(addressOf('/api/export', inScope(scope)));
      saveFile(await answer.blob(), `memories-${scope.project}.jsonl`);
    },
  });
}

/** How far an import has come: `share` of the file is done, 0 to 1. */
export interface Imported extends Pick<ImportAnswer, 'imported' | 'skipped'> {
  share: number;
}

/** Adds the memories of a file, piece by piece; those that are there already are left alone. */
export function useImport({ project }: Scope, onPiece: (done: Imported) => void) {
  return useChange(async (file: File) => {
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
  }, MEMORIES_CHANGED);
}

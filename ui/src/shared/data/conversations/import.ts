import { send } from '@/shared/api/client';
import { addressOf } from '@/shared/api/paths';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { inScope, type Scope, useScope } from '../scope';
import { conversationKeys as keys } from './keys';

export type ImportedConversations = components['schemas']['ConversationsImported'];

interface Import {
  file: File;
  /** Only say what it would store. */
  dryRun: boolean;
}

/** Stores the conversations of a file, all of it or nothing; those that are there already are left out. */
export function useImportConversations() {
  const scope = useScope();
  return useChange(({ file, dryRun }: Import) => importConversations(scope, file, dryRun), [keys.all]);
}

/** Stores the conversations of a file, or only says what it would store. */
export async function importConversations(scope: Scope, file: File, dryRun: boolean): Promise<ImportedConversations> {
  const address = addressOf('/api/conversations/import', { ...inScope(scope), dry_run: String(dryRun) });
  const answer = await send(address, { method: 'POST', body: file });
  return (await answer.json()) as ImportedConversations;
}

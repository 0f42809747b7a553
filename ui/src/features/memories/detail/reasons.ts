import type { HistoryEvent } from '@/shared/data/memories/details';
import type { Origin } from '@/shared/data/memories/list';

/** Where the words of a memory come from. */
export const ORIGIN_NAMES: Record<Origin, string> = {
  user: 'The user',
  assistant: 'The assistant',
  tool: 'A tool',
  document: 'A document',
  import: 'An import',
  api: 'A client',
  person: 'Edited by hand',
};

const REASONS: Record<string, string> = {
  extracted: 'Learned',
  verbatim: 'Stored as is',
  reconciled: 'Updated from a chat',
  mentioned_again: 'Mentioned again',
  exact_duplicate_revived: 'Mentioned again',
  superseded: 'Replaced by a newer memory',
  import: 'Imported',
  edit: 'Edited',
  confirmed: 'Still true',
  restored: 'Restored',
  merged: 'Merged',
  undone: 'Undone',
  suspected_instruction: 'May be an instruction to a model',
  unconfirmed: 'Contradicts what you said',
  unsure: 'Learned, unsure',
};
const EVENTS = { ADD: 'Added', UPDATE: 'Changed', DELETE: 'Deleted' };

/** Why a change was made. */
export function reasonInWords({ reason, event }: Pick<HistoryEvent, 'reason' | 'event'>): string {
  if (reason.startsWith('merged into ')) return `Merged into ${reason.slice('merged into '.length)}`;
  return REASONS[reason] ?? EVENTS[event];
}

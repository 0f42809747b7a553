import type { HistoryEvent } from '@/shared/data/memories/details';

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
};
const EVENTS = { ADD: 'Added', UPDATE: 'Changed', DELETE: 'Deleted' };

/** Why a change was made. */
export function reasonInWords({ reason, event }: Pick<HistoryEvent, 'reason' | 'event'>): string {
  if (reason.startsWith('merged into ')) return `Merged into ${reason.slice('merged into '.length)}`;
  return REASONS[reason] ?? EVENTS[event];
}

import type { HistoryEvent } from '@/shared/data/memories/details';

const REASONS: Record<string, string> = {
  extracted: 'Learned',
  verbatim: 'Kept word for word',
  reconciled: 'Changed by what was said',
  mentioned_again: 'Said again',
  exact_duplicate_revived: 'Said again',
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

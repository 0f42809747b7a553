import type { AuditEntry } from '@/shared/data/auditLog';

/** An act with its result: one row for what stands in two entries. */
export interface Act extends AuditEntry {
  /** Begun, and no entry tells of its end. */
  isOpen: boolean;
}

/** The acts of entries that come newest first: the result of an act stands with the entry that began it. */
export function acts(entries: readonly AuditEntry[]): Act[] {
  const results = new Map(entries.flatMap(entry => (entry.of === null ? [] : [[entry.of, entry.result] as const])));
  return entries
    .filter(entry => entry.of === null)
    .map(entry => {
      const result = results.get(entry.number);
      return { ...entry, result: result ?? entry.result, isOpen: entry.result === 'begun' && result === undefined };
    });
}

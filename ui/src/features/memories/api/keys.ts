import type { components } from '@/shared/api/schema';

export type Memory = components['schemas']['MemoryRecord'];
export type ListedMemory = components['schemas']['ListedMemory'];
export type HistoryEvent = components['schemas']['HistoryEvent'];
export type Source = components['schemas']['Source'];
export type Hit = components['schemas']['Hit'];

/** What everything that shows memories is kept under: invalidate it when one was changed. */
export const MEMORIES = ['memories'] as const;

/** Whose memories, in which project. */
export interface Owner {
  user: string;
  project: string;
}

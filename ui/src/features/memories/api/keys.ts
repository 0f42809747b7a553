import type { components } from '@/shared/api/schema';

export type Memory = components['schemas']['MemoryRecord'];
export type ListedMemory = components['schemas']['ListedMemory'];
export type HistoryEvent = components['schemas']['HistoryEvent'];
export type Source = components['schemas']['Source'];
export type Hit = components['schemas']['Hit'];

/** What everything that shows memories is kept under: invalidate it when one was changed. */
export const MEMORIES = ['memories'] as const;

export type { MemoryOwner as Owner } from '@/shared/api/forgetMemories';

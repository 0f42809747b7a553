import { projectKeys } from '../projects';
import type { Place, Scope } from '../scope';

const all = ['memories'] as const;

export const memoryKeys = {
  all,
  newest: ({ user, project }: Scope) => [...all, 'newest', user, project] as const,
  list: ({ user, project }: Scope) => [...all, 'list', user, project] as const,
  found: ({ user, project }: Scope) => [...all, 'found', user, project] as const,
  map: ({ user, project }: Scope) => [...all, 'map', user, project] as const,
  recall: ({ user, project }: Scope) => [...all, 'recall', user, project] as const,
  details: ({ user, project }: Scope, id: string) => [...all, 'details', user, project, id] as const,
  history: ({ user, project }: Scope, id: string) => [...all, 'history', user, project, id] as const,
  changes: ({ user, project }: Scope) => [...all, 'changes', user, project] as const,
  proposals: ({ user, project }: Scope) => [...all, 'proposals', user, project] as const,
  waiting: ({ user, project }: Scope) => [...all, 'waiting', user, project] as const,
  /** What was learned from a message. */
  learned: ({ user, project, conversation }: Place, messageId: number) =>
    [...all, 'learned', user, project, conversation, messageId] as const,
  duplicates: ({ user, project }: Scope) => [...all, 'duplicates', user, project] as const,
};

/** What is asked for again when memories were learned, changed or forgotten. */
export const MEMORIES_CHANGED = [all, projectKeys.all];

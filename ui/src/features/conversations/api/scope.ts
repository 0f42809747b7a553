import { ApiError } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';

/** Whose conversations every request here is about. */
export interface Scope {
  user_id: string;
  project: string;
}

export function useScope(): Scope {
  const { user, project } = useSettings();
  return { user_id: user, project };
}

export const keys = {
  all: ['conversations'] as const,
  lists: (scope: Scope) => ['conversations', 'list', scope] as const,
  of: (scope: Scope, id: string) => ['conversations', 'one', scope, id] as const,
};

/** Names that the server's routes have for themselves: a conversation that is called so has its first letter encoded. */
const TAKEN = new Set(['search', 'export', 'import', 'prune', 'node-memory']);

/** A path with its names filled in, whatever characters they hold. */
export function pathSerializer(path: string, names: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(String(names[name])));
}

export function encoded(name: string): string {
  // browsers take these steps out of a path, whichever way they are written
  if (name === '.' || name === '..') throw new ApiError(404, 'not_found', `There is no conversation "${name}".`);
  if (!TAKEN.has(name)) return encodeURIComponent(name);
  return `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
}

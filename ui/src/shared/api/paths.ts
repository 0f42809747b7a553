import { ApiError } from './errors';

/** Names that routes of conversations have for themselves: one that is called so has its first letter encoded. */
const TAKEN = new Set(['search', 'export', 'import', 'prune', 'node-memory']);

/** A path with its names filled in, whatever characters they hold. */
export function pathSerializer(path: string, names: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(String(names[name])));
}

export function encoded(name: string): string {
  // browsers take these steps out of a path, whichever way they are written
  if (name === '.' || name === '..') throw new ApiError(404, 'not_found', `Nothing is called "${name}".`);
  if (!TAKEN.has(name)) return encodeURIComponent(name);
  return `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
}

/** A path with its parameters, for requests that the typed client is not made for. */
export function addressOf(path: string, values: Record<string, string>): string {
  return `${path}?${new URLSearchParams(values).toString()}`;
}

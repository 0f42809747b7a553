import { useModel } from './models';
import { type ConfigOverview, type ConfigUser, useConfigTree } from './workflows';

export const FRESH_MS = 60_000;

/**
 * Whether the workflow that answers recalls and learns. Only what is certain counts as a no: a server that is not asked
 * yet, or does not tell, may well.
 */
export function useMemoryUse(): boolean {
  const model = useModel();
  const { data: tree } = useConfigTree({ staleTime: FRESH_MS });
  return tree === undefined || memoryUse(tree, model) !== false;
}

/** Whether any workflow that a message to `model` may come to first uses memory; null where that is not known. */
export function memoryUse({ root, users, files }: ConfigOverview, model: string): boolean | null {
  const canRemember = (path: string | null) => files.find(file => file.path === path)?.can_remember ?? null;
  if (root === null) return canRemember(files[0]?.path ?? null);
  const uses = startsOf(users, model).map(start => canRemember(start.path));
  if (uses.includes(true)) return true;
  return uses.length && uses.every(use => use === false) ? false : null;
}

/** The workflows that a message to `model` may come to first; none where they are not known. */
export function startsOf(users: ConfigOverview['users'], model: string): ConfigUser['starts'] {
  const user = users.find(one => one.is_served && one.models.includes(model));
  if (!user || user.problem) return [];
  const shared = user.starts.filter(start => start.when === `model ${model}`);
  return shared.length ? shared : user.starts.filter(start => !start.when?.startsWith('model '));
}

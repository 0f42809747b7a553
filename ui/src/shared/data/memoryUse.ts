import { useModel } from './models';
import { type ConfigOverview, useConfigTree } from './workflows';

const FRESH_MS = 60_000;

/**
 * Whether the workflow that answers recalls and learns. Only what is certain counts as a no: a server that is not asked
 * yet, or does not tell, may well.
 */
export function useMemoryUse(): boolean {
  const model = useModel();
  const { data: tree } = useConfigTree({ staleTime: FRESH_MS });
  return tree === undefined || usesMemory(tree, model);
}

/** Whether any workflow that a message to `model` may come to first uses memory, as far as that is known. */
export function usesMemory({ root, users, files }: ConfigOverview, model: string): boolean {
  const isOn = (path: string | null) => files.find(file => file.path === path)?.can_remember !== false;
  if (root === null) return isOn(files[0]?.path ?? null);
  const user = users.find(one => one.is_served && one.models.includes(model));
  if (!user || user.problem) return true;
  const shared = user.starts.filter(start => start.when === `model ${model}`);
  const starts = shared.length ? shared : user.starts.filter(start => !start.when?.startsWith('model '));
  return starts.length === 0 || starts.some(start => isOn(start.path));
}

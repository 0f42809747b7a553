import type { ConfigOverview } from '@/shared/data/workflows';

/** Whom to ask so that a workflow runs, and what is to be said about it. */
export function modelFor({ root, users, models }: ConfigOverview, file: string): { model: string; hint: string } {
  const first = models[0] ?? '';
  if (root === null) return { model: first, hint: '' };
  const served = users.filter(user => user.is_served);
  const starter = served.find(user => user.starts.some(start => start.path === file));
  if (starter) {
    const start = starter.starts.find(({ path }) => path === file);
    const shared = start?.when?.replace(/^model /, '') ?? '';
    const model = starter.models.includes(shared) ? shared : (starter.models[0] ?? first);
    const hint = start?.when && model !== shared ? `${starter.name} runs this workflow for “${start.when}”.` : '';
    return { model, hint };
  }
  const own = served.find(user => user.path === file);
  if (own || !/^workflows\//i.test(file)) return { model: own?.models[0] ?? first, hint: '' };
  const folder = file.split('/')[1]?.toLowerCase();
  const owner = served.find(user => user.name.toLowerCase() === folder);
  return {
    model: owner?.models[0] ?? first,
    hint: 'No message starts here: it runs when another workflow calls it.',
  };
}

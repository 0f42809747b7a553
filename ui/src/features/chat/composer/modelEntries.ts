import { memoryUse, startsOf } from '@/shared/data/memoryUse';
import type { ConfigOverview } from '@/shared/data/workflows';

/** A name that can be asked, as the picker shows it. */
export interface ModelEntry {
  name: string;
  /** The workflow that answers; "" where it is not known. */
  description: string;
  /** It is known to use memory. */
  remembers: boolean;
}

export function modelEntries(names: readonly string[], tree: ConfigOverview | undefined): ModelEntry[] {
  return names.map(name => ({
    name,
    description: tree ? workflowOf(tree, name) : '',
    remembers: tree !== undefined && memoryUse(tree, name) === true,
  }));
}

/** Those that hold all the words, in their names or descriptions. */
export function matching(entries: readonly ModelEntry[], words: string): ModelEntry[] {
  const wanted = words.toLowerCase().split(/\s+/);
  return entries.filter(({ name, description }) => {
    const text = `${name} ${description}`.toLowerCase();
    return wanted.every(word => text.includes(word));
  });
}

function workflowOf({ root, users }: ConfigOverview, model: string): string {
  if (root === null) return 'Built-in workflow';
  const starts = startsOf(users, model);
  const [first] = starts;
  if (!first) return '';
  if (starts.length === 1) return `Workflow ${first.path ? titleOf(first.path) : first.name}`;
  const categories = starts.flatMap(({ when }) => (when && when !== 'no category' ? [when] : []));
  return `Routed by category: ${categories.join(', ')}`;
}

/** `Workflows/Ann/Chat.json` is `Ann/Chat`. */
function titleOf(path: string): string {
  return path.replace(/^[^/]*\//, '').replace(/\.json$/i, '');
}

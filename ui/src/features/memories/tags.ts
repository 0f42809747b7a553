import type { Memory } from '@/shared/data/memories/list';

/** The words that a memory is tagged with. */
export function tagsOf({ metadata }: Pick<Memory, 'metadata'>): string[] {
  const tags = metadata?.tags;
  const found: unknown[] = Array.isArray(tags) ? tags : [tags];
  return found.filter(tag => typeof tag === 'string');
}

import type { Memory } from '@/shared/data/memories/list';

/** The memory that shares most of its words with the others, so never the odd one out; of equal ones the longest. */
export function mostTypical(memories: readonly Memory[]): Memory | undefined {
  const words = memories.map(({ memory }) => new Set(memory.toLowerCase().match(/[\p{L}\p{N}]+/gu)));
  const rated = memories.map((memory, at) => ({ memory, rating: ratingOf(at, words) }));
  rated.sort((one, other) => other.rating - one.rating || other.memory.memory.length - one.memory.memory.length);
  return rated[0]?.memory;
}

/** How alike the words at a place are to all others: the sum of shares in common, each from 0 to 1. */
function ratingOf(at: number, words: ReadonlySet<string>[]): number {
  const own = words[at] ?? new Set();
  return words.reduce((sum, other, place) => {
    if (place === at) return sum;
    const common = [...own].filter(word => other.has(word)).length;
    return sum + common / Math.max(1, own.size + other.size - common);
  }, 0);
}

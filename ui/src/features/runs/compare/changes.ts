import { diffLines, diffWordsWithSpace } from 'diff';

/** A piece of two texts: in both, or only in the first or the second. */
export interface Change {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

const MOST_BY_WORDS = 20_000; // characters of both together; longer texts are compared line by line
const PATIENCE_MS = 800;

/** What differs, in order; null for texts that differ so much that finding out takes too long. */
export function changesOf(left: string, right: string): Change[] | null {
  const parts =
    left.length + right.length <= MOST_BY_WORDS
      ? diffWordsWithSpace(left, right, { timeout: PATIENCE_MS })
      : diffLines(left, right, { timeout: PATIENCE_MS });
  return (
    parts?.map(part => ({
      kind: part.added ? 'added' : part.removed ? 'removed' : 'same',
      text: part.value,
    })) ?? null
  );
}

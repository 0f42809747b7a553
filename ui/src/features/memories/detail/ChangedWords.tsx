import { Text } from '@mantine/core';
import { Words } from '@/shared/components/Words';
import { WordDiff } from './WordDiff';

interface ChangedWordsProps {
  before: string | null;
  after: string | null;
}

/** What a change did to the words of one memory. */
export function ChangedWords({ before, after }: ChangedWordsProps) {
  if (before !== null && after !== null && before !== after) return <WordDiff before={before} after={after} />;
  const text = after ?? before;
  if (text === null) return null;
  return (
    <Text component="div" size="sm" c={after === null ? 'dimmed' : undefined}>
      <Words limit={2000}>{text}</Words>
    </Text>
  );
}

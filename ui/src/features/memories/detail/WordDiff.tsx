import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';
import { Words } from '@/shared/components/Words';
import classes from './detail.module.css';

const MOST_COMPARED = 20_000; // characters: what is longer is shown whole, before and after

/** What a change took out and put in, word by word. */
export function WordDiff({ before, after }: { before: string; after: string }) {
  const parts = useMemo(() => comparedWords(before, after), [before, after]);
  return (
    <p className={classes.diff}>
      {parts.map((part, at) => {
        if (part.removed)
          return (
            <del key={at}>
              <Words>{part.value}</Words>
            </del>
          );
        if (part.added)
          return (
            <ins key={at}>
              <Words>{part.value}</Words>
            </ins>
          );
        return <Words key={at}>{part.value}</Words>;
      })}
    </p>
  );
}

interface Part {
  value: string;
  added?: boolean;
  removed?: boolean;
}

function comparedWords(before: string, after: string): Part[] {
  if (before.length + after.length > MOST_COMPARED)
    return [
      { value: before, removed: true },
      { value: after, added: true },
    ];
  return diffWordsWithSpace(before, after);
}

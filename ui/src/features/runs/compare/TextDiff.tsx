import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { Pieces, Words } from '@/shared/components/Words';
import { type Change, changesOf } from './changes';
import classes from './Compare.module.css';

interface TextDiffProps {
  left: string;
  right: string;
}

const LONGEST_SAME = 600; // characters of what is in both; of more only both ends are shown
const SHOWN_OF_SAME = 200;

/** What the second text has and the first has not, and the other way round. */
export function TextDiff({ left, right }: TextDiffProps) {
  const changes = useMemo(() => changesOf(left, right), [left, right]);
  if (left === right)
    return (
      <Text size="sm" c="dimmed">
        {left ? 'The same in both.' : 'Empty in both.'}
      </Text>
    );
  if (!changes)
    return (
      <div className={classes.apart}>
        <Words limit={5000}>{left}</Words>
        <Words limit={5000}>{right}</Words>
      </div>
    );
  return (
    <div className={classes.diff} dir="auto">
      {changes.map((change, at) => (
        <Piece key={at} change={change} />
      ))}
    </div>
  );
}

function Piece({ change: { kind, text } }: { change: Change }) {
  if (kind === 'removed')
    return (
      <del>
        <Pieces text={text} />
      </del>
    );
  if (kind === 'added')
    return (
      <ins>
        <Pieces text={text} />
      </ins>
    );
  if (text.length <= LONGEST_SAME) return <Pieces text={text} />;
  const between = text.length - 2 * SHOWN_OF_SAME;
  return (
    <>
      <Pieces text={text.slice(0, SHOWN_OF_SAME)} />
      <span className={classes.skipped}> … {between.toLocaleString()} characters are the same … </span>
      <Pieces text={text.slice(-SHOWN_OF_SAME)} />
    </>
  );
}

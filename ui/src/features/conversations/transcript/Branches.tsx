import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { Words } from '@/shared/components/Words';
import type { Message } from '../api/getMessages';
import { gistOf } from './content';
import { type Stretch, stretchesOf, type Tree } from './tree';
import classes from './Transcript.module.css';

const MOST_DEPTH = 6; // steps that rows are moved to the right

interface BranchesProps {
  tree: Tree;
  way: readonly Message[];
  onChoose: (id: number) => void;
}

/** The whole tree in short: a row for each run of messages without a branch in it. */
export function Branches({ tree, way, onChoose }: BranchesProps) {
  const stretches = useMemo(() => stretchesOf(tree), [tree]);
  const shown = useMemo(() => new Set(way.map(message => message.id)), [way]);
  return (
    <VirtualRows items={stretches} rowKey={stretch => stretch.first.id} label="Branches" estimate={52}>
      {stretch => <Row stretch={stretch} isShown={shown.has(stretch.first.id)} onChoose={onChoose} />}
    </VirtualRows>
  );
}

interface RowProps {
  stretch: Stretch;
  isShown: boolean;
  onChoose: (id: number) => void;
}

function Row({ stretch: { first, last, count, depth, of, place }, isShown, onChoose }: RowProps) {
  return (
    <button
      type="button"
      className={classes.stretch}
      style={{ paddingInlineStart: `${0.75 + Math.min(depth, MOST_DEPTH) * 0.75}rem` }}
      aria-current={isShown}
      onClick={() => onChoose(first.id)}
    >
      <span className={classes.stretchGist}>
        <Words limit={120}>{gistOf(first)}</Words>
      </span>
      <Text span size="xs" c="dimmed">
        {of > 1 && `${place}/${of} · `}
        {count === 1 ? '1 message' : `${count.toLocaleString()} messages`}
        {last.on_thread && ' · thread'}
      </Text>
    </button>
  );
}

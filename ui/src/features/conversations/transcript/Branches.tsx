import { Text } from '@mantine/core';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { Words } from '@/shared/components/Words';
import type { Branch, Message } from '@/shared/data/conversations/messages';
import { isOnWay } from './view';
import classes from './Transcript.module.css';

const MOST_DEPTH = 6; // steps that rows are moved to the right

interface BranchesProps {
  branches: readonly Branch[];
  /** How many there are in all. */
  total: number;
  /** What is loaded of the way that is shown. */
  loaded: readonly Message[];
  onChoose: (id: number) => void;
  onEndReached: () => void;
}

/** The whole tree in short: a row for each run of messages without a branch in it. */
export function Branches({ branches, total, loaded, onChoose, onEndReached }: BranchesProps) {
  return (
    <VirtualRows
      items={branches}
      total={total}
      rowKey={branch => branch.first_id}
      label="Branches"
      estimate={52}
      onEndReached={onEndReached}
    >
      {branch => (
        <Row branch={branch} isShown={isOnWay(branch.first_id, branch.on_thread, loaded)} onChoose={onChoose} />
      )}
    </VirtualRows>
  );
}

interface RowProps {
  branch: Branch;
  isShown: boolean;
  onChoose: (id: number) => void;
}

function Row({ branch, isShown, onChoose }: RowProps) {
  const { first_id: first, messages: count, depth, of, place } = branch;
  return (
    <button
      type="button"
      className={classes.stretch}
      style={{ paddingInlineStart: `${0.75 + Math.min(depth, MOST_DEPTH) * 0.75}rem` }}
      aria-current={isShown}
      onClick={() => onChoose(first)}
    >
      <span className={classes.stretchGist}>
        {branch.text ? <Words>{branch.text}</Words> : `No text (${branch.role})`}
      </span>
      <Text span size="xs" c="dimmed">
        {of > 1 && `${place}/${of} · `}
        {count === 1 ? '1 message' : `${count.toLocaleString()} messages`}
        {branch.ends_on_thread && ' · thread'}
      </Text>
    </button>
  );
}

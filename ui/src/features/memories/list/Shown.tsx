import { Button, Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useMay } from '@/shared/data/access';
import type { Scope } from '@/shared/data/scope';
import { useDialog } from '@/shared/hooks/useDialog';
import { MergeDialog } from '../dialogs/MergeDialog';
import type { Place } from '../place';
import { ViewSwitch } from '../toolbar/ViewSwitch';
import classes from './list.module.css';
import { BatchActions } from './BatchActions';
import { MemoryList } from './MemoryList';
import type { Row } from './rows';
import { useSelection } from './useSelection';

/** What both lists, of conditions and of a search, are given. */
export interface ListParts {
  place: Place;
  owner: Scope;
  onOpen: (id: string) => void;
  onView: (view: Place['view']) => void;
  onDelete: (ids: string[]) => void;
}

interface ShownProps {
  rows: Row[];
  total: number;
  /** What there is, in words. */
  told: string;
  /** How it was found, for who points at that. */
  hint?: string;
  view: 'table' | 'timeline';
  /** What was looked for. */
  query: string;
  /** What is shown is of the words before: others are being looked for. */
  isWaiting: boolean;
  owner: Scope;
  openId: string;
  onOpen: (id: string) => void;
  /** Not there where there is one view only. */
  onView?: (view: Place['view']) => void;
  onDelete: (ids: string[]) => void;
  onEndReached: () => void;
}

/** The rows, and above them how many there are or what can be done with those selected. */
export function Shown({ told, hint, owner, isWaiting, onView, ...list }: ShownProps) {
  const present = useMemo(() => list.rows.map(row => row.memory.id), [list.rows]);
  const selection = useSelection(present);
  const mayWrite = useMay().write;
  const remove = (ids: string[]) => {
    if (!mayWrite) return; // the key Delete asks for it, too
    const going = new Set(ids); // taken back, they are not selected any more
    selection.set([...selection.ids].filter(id => !going.has(id)));
    list.onDelete(ids);
  };
  const { shown, open, close } = useDialog<'merge'>();
  const selected = list.rows.flatMap(row => (selection.ids.has(row.memory.id) ? row.memory : []));
  return (
    <>
      <Group className={classes.summary} gap="xs">
        {selected.length === 0 ? (
          <Text size="xs" c="dimmed" role="status" title={hint}>
            {told}
          </Text>
        ) : (
          <>
            <Text size="xs" fw={600} role="status">
              {selected.length} selected
            </Text>
            {mayWrite && (
              <>
                <Button size="compact-xs" variant="default" onClick={() => remove(selected.map(memory => memory.id))}>
                  Delete
                </Button>
                <BatchActions owner={owner} memories={selected} onDone={() => selection.set([])} />
                <Button
                  size="compact-xs"
                  variant="default"
                  disabled={selected.length < 2 || selected.length > 100}
                  onClick={() => open('merge')}
                >
                  Merge…
                </Button>
              </>
            )}
            <Button size="compact-xs" variant="subtle" onClick={() => selection.set([])}>
              Select none
            </Button>
          </>
        )}
        {onView && <ViewSwitch view={list.view} onChange={onView} />}
      </Group>
      <div className={classes.around} data-waiting={isWaiting || undefined}>
        <MemoryList {...list} owner={owner} onDelete={remove} selection={selection} />
      </div>
      {shown && <MergeDialog owner={owner} memories={selected} onClose={close} />}
    </>
  );
}

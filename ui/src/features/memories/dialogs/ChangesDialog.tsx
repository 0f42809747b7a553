import { Button, Modal, Text } from '@mantine/core';
import { TbHistory } from 'react-icons/tb';
import { notifyFailure } from '@/shared/components/notify';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { useMay } from '@/shared/data/access';
import { type ChangedRow, type LoggedChange, useChanges, useUndo } from '@/shared/data/memories/changes';
import type { Scope } from '@/shared/data/scope';
import { ChangedWords } from '../detail/ChangedWords';
import { reasonInWords } from '../detail/reasons';
import classes from './dialogs.module.css';

interface DialogProps {
  owner: Scope;
  onClose: () => void;
}

/** Every change of the user's memories, the newest first, each with its undo. */
export function ChangesDialog({ owner, onClose }: DialogProps) {
  return (
    <Modal opened onClose={onClose} title="Changes" size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Log owner={owner} />
    </Modal>
  );
}

function Log({ owner }: { owner: Scope }) {
  const log = useChanges(owner);
  const undo = useUndo(owner);
  if (log.isPending) return <LoadingState label="Loading changes" />;
  if (log.isError) return <ErrorState error={log.error} onRetry={() => void log.refetch()} />;
  if (log.changes.length === 0)
    return <EmptyState Icon={TbHistory} title="No changes" hint="Nothing has been added, changed or deleted yet." />;
  const takeBack = (id: string) =>
    undo.mutate(id, { onError: error => notifyFailure('Could not undo the change', error) });
  return (
    <>
      <ol className={classes.log} aria-label="Changes, newest first">
        {log.changes.map(change => (
          <Change key={change.id} change={change} isBusy={undo.isPending} onUndo={() => takeBack(change.id)} />
        ))}
      </ol>
      {log.hasNextPage && (
        <Button variant="default" fullWidth loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          Earlier changes
        </Button>
      )}
    </>
  );
}

const MOST_ROWS = 10;

interface ChangeProps {
  change: LoggedChange;
  isBusy: boolean;
  onUndo: () => void;
}

function Change({ change, isBusy, onUndo }: ChangeProps) {
  const { rows, undone_by: undoneBy } = change;
  const mayWrite = useMay().write;
  return (
    <li className={classes.group}>
      <div className={classes.changeHead}>
        <Time value={change.created_at} />
        {undoneBy === null && mayWrite && (
          <Button size="compact-sm" variant="default" disabled={isBusy} onClick={onUndo}>
            {change.undo_of === null ? 'Undo' : 'Redo'}
          </Button>
        )}
        {undoneBy !== null && (
          <Text size="xs" c="dimmed">
            Undone
          </Text>
        )}
      </div>
      {rows.slice(0, MOST_ROWS).map((row, at) => (
        <Row key={at} row={row} />
      ))}
      {rows.length > MOST_ROWS && <div className={classes.aside}>and {rows.length - MOST_ROWS} more</div>}
    </li>
  );
}

function Row({ row }: { row: ChangedRow }) {
  return (
    <div className={classes.changed}>
      <span className={classes.aside}>{reasonInWords(row)}</span>
      <ChangedWords before={row.old_memory} after={row.new_memory} />
    </div>
  );
}

import { Button, Text, Title } from '@mantine/core';
import { notifyFailure, notifyUndo } from '@/shared/components/notify';
import { Time } from '@/shared/components/Time';
import { useMay } from '@/shared/data/access';
import { useRestoreMemory } from '@/shared/data/memories/change';
import { useUndo } from '@/shared/data/memories/changes';
import type { HistoryEvent } from '@/shared/data/memories/details';
import type { ListedMemory } from '@/shared/data/memories/list';
import type { Scope } from '@/shared/data/scope';
import { ChangedWords } from './ChangedWords';
import classes from './detail.module.css';
import { reasonInWords } from './reasons';

interface HistoryListProps {
  owner: Scope;
  memory: ListedMemory;
  events: HistoryEvent[];
}

/** What happened to a memory, the newest first, each change with what it changed. */
export function HistoryList({ owner, memory, events }: HistoryListProps) {
  const restore = useRestoreMemory(owner);
  const undo = useUndo(owner);
  const mayWrite = useMay().write;
  const undoChange = (change: string) =>
    undo.mutate(change, {
      onSuccess: ({ id, results }) =>
        notifyUndo(
          results.length === 1 ? 'Change undone' : `Change undone, with ${results.length.toLocaleString()} memories`,
          () => undo.mutateAsync(id),
        ),
      onError: error => notifyFailure('Could not undo the change', error),
    });
  const goBack = (event: HistoryEvent) =>
    restore.mutate(
      { id: memory.id, to: event.id },
      { onError: error => notifyFailure('Could not restore this version', error) },
    );
  return (
    <section aria-label="History">
      <Title order={3} size="h6" mb="xs">
        History
      </Title>
      {events.length === 0 && (
        <Text size="sm" c="dimmed">
          No history: another program wrote this memory.
        </Text>
      )}
      <ol className={classes.history}>
        {[...events].reverse().map((event, at) => (
          <li key={event.id}>
            <div className={classes.eventHead}>
              <strong>{reasonInWords(event)}</strong>
              <Time value={event.created_at} />
            </div>
            <ChangedWords before={event.old_memory} after={event.new_memory} />
            {mayWrite && event.new_memory !== null && event.new_memory !== memory.memory && (
              <Button size="compact-xs" variant="subtle" loading={restore.isPending} onClick={() => goBack(event)}>
                Restore this version
              </Button>
            )}
            {mayWrite && at === 0 && event.change_id !== null && event.reason !== 'import' && (
              <Button
                size="compact-xs"
                variant="subtle"
                loading={undo.isPending}
                onClick={() => undoChange(event.change_id ?? '')}
              >
                Undo this change
              </Button>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

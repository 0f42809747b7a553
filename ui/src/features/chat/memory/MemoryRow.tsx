import { ActionIcon, Text, Tooltip } from '@mantine/core';
import { type MouseEvent, type ReactNode, useState } from 'react';
import { TbPencil, TbTimelineEvent, TbTrash } from 'react-icons/tb';
import { notifyFailure, notifyUndo } from '@/shared/components/notify';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { Memory } from '../api/memories';
import { useDeleteMemory } from '../api/memories-delete';
import { useRestoreMemory } from '../api/memories-restore';
import { EditMemory } from './EditMemory';
import { HistoryPopover } from './HistoryPopover';
import classes from './memory.module.css';

const MOST_SHOWN = 1000; // characters

/** A memory with its times, and what can be done with it. */
export function MemoryRow({ memory }: { memory: Memory }) {
  const [isEditing, setEditing] = useState(false);
  const remove = useDeleteMemory();
  const restore = useRestoreMemory();

  const deleteIt = (event: MouseEvent<HTMLElement>) => {
    const list = event.currentTarget.closest<HTMLElement>('[role=region]');
    remove.mutate(memory.id, {
      onSuccess: () => {
        notifyUndo('The memory was deleted', () => restore.mutateAsync(memory.id));
        list?.focus(); // the button that had it goes
      },
      onError: error => notifyFailure('The memory could not be deleted', error),
    });
  };
  return (
    <li className={classes.row}>
      <TbTimelineEvent size={20} className={classes.icon} aria-hidden />
      <div className={classes.words}>
        {isEditing ? (
          <EditMemory memory={memory} onDone={() => setEditing(false)} />
        ) : (
          <>
            <div className={classes.fact}>
              <Words limit={MOST_SHOWN}>{memory.memory}</Words>
            </div>
            <Text size="xs" c="dimmed" component="div">
              <Time value={memory.created_at} />
              {memory.updated_at !== memory.created_at && (
                <>
                  {' · updated '}
                  <Time value={memory.updated_at} />
                </>
              )}
            </Text>
          </>
        )}
      </div>
      {!isEditing && (
        <div className={classes.tools}>
          <Tool name="Edit" onClick={() => setEditing(true)}>
            <TbPencil size={16} />
          </Tool>
          <HistoryPopover id={memory.id} />
          <Tool name="Delete" onClick={deleteIt} isBusy={remove.isPending}>
            <TbTrash size={16} />
          </Tool>
        </div>
      )}
    </li>
  );
}

interface ToolProps {
  name: string;
  onClick: (event: MouseEvent<HTMLElement>) => void;
  isBusy?: boolean;
  children: ReactNode;
}

function Tool({ name, onClick, isBusy = false, children }: ToolProps) {
  return (
    <Tooltip label={name}>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={name} onClick={onClick} loading={isBusy}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

import { ActionIcon, Text, Tooltip } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { TbPencil, TbTimelineEvent, TbTrash } from 'react-icons/tb';
import { MemoryEditor } from '@/shared/components/MemoryEditor';
import { notifyFailure, notifyUndo } from '@/shared/components/notify';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import { useDeleteMemory, useRestoreMemory } from '@/shared/data/memories/change';
import type { Memory } from '@/shared/data/memories/list';
import { useScope } from '@/shared/data/scope';
import { HistoryPopover } from './HistoryPopover';
import classes from './memory.module.css';

const MOST_SHOWN = 1000; // characters
const NEW_MS = 20_000; // since it was learned

/** A memory with its times, and what can be done with it. */
export function MemoryRow({ memory }: { memory: Memory }) {
  const [isEditing, setEditing] = useState(false);
  const [isNew] = useState(() => Date.now() - Date.parse(memory.created_at) < NEW_MS);
  const row = useRef<HTMLLIElement>(null);
  const scope = useScope();
  const mayWrite = useMay().write;
  const restore = useRestoreMemory(scope);
  const remove = useDeleteMemory(scope, {
    onSuccess: () => {
      notifyUndo('The memory was deleted', () => restore.mutateAsync({ id: memory.id }));
      row.current?.closest<HTMLElement>('[role=region]')?.focus(); // the button that had it goes
    },
    onError: error => notifyFailure('Could not delete the memory', error),
  });
  return (
    <li ref={row} className={`${classes.row ?? ''} ${isNew ? 'arriving' : ''}`}>
      <TbTimelineEvent size={20} className={classes.icon} aria-hidden />
      <div className={classes.words}>
        {isEditing ? (
          <MemoryEditor scope={scope} memory={memory} label="Memory" compact onDone={() => setEditing(false)} />
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
          {mayWrite && (
            <Tool name="Edit" onClick={() => setEditing(true)}>
              <TbPencil size={16} />
            </Tool>
          )}
          <HistoryPopover id={memory.id} />
          {mayWrite && (
            <Tool name="Delete" onClick={() => remove.mutate(memory.id)} isBusy={remove.isPending}>
              <TbTrash size={16} />
            </Tool>
          )}
        </div>
      )}
    </li>
  );
}

interface ToolProps {
  name: string;
  onClick: () => void;
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

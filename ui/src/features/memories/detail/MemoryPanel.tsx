import { ActionIcon, Button, Group, Stack, Text, Title, Tooltip } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { TbArrowsMaximize, TbFileUnknown, TbPencil, TbRefresh, TbRestore, TbTrash, TbX } from 'react-icons/tb';
import { ApiError } from '@/shared/api/errors';
import { CopyButton } from '@/shared/components/CopyButton';
import { MemoryEditor } from '@/shared/components/MemoryEditor';
import { notifyFailure } from '@/shared/components/notify';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import { useEditMemory, useRestoreMemory } from '@/shared/data/memories/change';
import { useMemoryDetails } from '@/shared/data/memories/details';
import type { ListedMemory } from '@/shared/data/memories/list';
import type { Scope } from '@/shared/data/scope';
import { HistoryList } from './HistoryList';
import { Properties } from './Properties';
import { SourceList } from './SourceList';
import classes from './detail.module.css';

interface MemoryPanelProps {
  owner: Scope;
  id: string;
  onDelete: (id: string) => void;
  /** Leads to the page of the memory alone; not there on that page. */
  onOwnPage?: () => void;
  /** What else is told of it. */
  children?: ReactNode;
  /** null where something else closes it. */
  onClose: (() => void) | null;
}

/** One memory: what it says, how it stands, where it comes from and what happened to it. */
export function MemoryPanel({ owner, id, onDelete, onOwnPage, onClose, children }: MemoryPanelProps) {
  const details = useMemoryDetails(owner, id);
  const isGone = details.error instanceof ApiError && details.error.status === 404;
  return (
    <div className={classes.panel}>
      {onClose && (
        <Group justify="space-between" wrap="nowrap" className={classes.head}>
          <Title order={2} size="h5">
            Memory
          </Title>
          <Tooltip label="Close">
            <ActionIcon variant="subtle" color="gray" onClick={onClose} aria-label="Close memory">
              <TbX size={18} />
            </ActionIcon>
          </Tooltip>
        </Group>
      )}
      {details.isPending && <LoadingState label="Loading memory" />}
      {details.isError && isGone && (
        <EmptyState
          Icon={TbFileUnknown}
          title="Memory not found"
          hint="It was deleted, or belongs to another user or project."
        />
      )}
      {details.isError && !isGone && <ErrorState error={details.error} onRetry={() => void details.refetch()} />}
      {details.data && (
        <Stack gap="lg" className={classes.body}>
          <Statement owner={owner} memory={details.data.memory} onDelete={onDelete} onOwnPage={onOwnPage} />
          <Properties memory={details.data.memory} />
          <SourceList owner={owner} sources={details.data.sources} />
          <HistoryList owner={owner} memory={details.data.memory} events={details.data.history} />
          {children}
        </Stack>
      )}
    </div>
  );
}

interface StatementProps {
  owner: Scope;
  memory: ListedMemory;
  onDelete: (id: string) => void;
  onOwnPage: (() => void) | undefined;
}

function Statement({ owner, memory, onDelete, onOwnPage }: StatementProps) {
  const mayWrite = useMay().write;
  const [isEditing, setEditing] = useState(false);
  if (isEditing)
    return <MemoryEditor scope={owner} memory={memory} label="Memory text" onDone={() => setEditing(false)} />;
  return (
    <Stack gap="sm">
      <Text component="div" size="lg" className={classes.statement}>
        <Words limit={5000}>{memory.memory}</Words>
      </Text>
      {memory.state === 'deleted' ? (
        <TakeBack owner={owner} memory={memory} />
      ) : (
        <Group gap="xs">
          {mayWrite && (
            <>
              <Button
                size="xs"
                variant="default"
                leftSection={<TbPencil size={15} />}
                onClick={() => setEditing(true)}
              >
                Edit
              </Button>
              <Confirm owner={owner} memory={memory} />
              <Button
                size="xs"
                variant="default"
                leftSection={<TbTrash size={15} />}
                onClick={() => onDelete(memory.id)}
              >
                Delete
              </Button>
            </>
          )}
          <CopyButton text={memory.memory} label="Copy memory" />
          {onOwnPage && (
            <Tooltip label="Its whole story">
              <ActionIcon variant="subtle" color="gray" onClick={onOwnPage} aria-label="Open its page">
                <TbArrowsMaximize size={16} />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      )}
    </Stack>
  );
}

/** Says that it still holds, so that its time begins anew. */
function Confirm({ owner, memory }: { owner: Scope; memory: ListedMemory }) {
  const edit = useEditMemory(owner);
  if (memory.state !== 'fading' && memory.state !== 'hidden') return null;
  const keep = () =>
    edit.mutate(
      { id: memory.id, memory: memory.memory, updated_at: memory.updated_at },
      { onError: error => notifyFailure('Could not renew the memory', error) },
    );
  return (
    <Button size="xs" variant="light" leftSection={<TbRefresh size={15} />} loading={edit.isPending} onClick={keep}>
      Still true
    </Button>
  );
}

function TakeBack({ owner, memory }: { owner: Scope; memory: ListedMemory }) {
  const restore = useRestoreMemory(owner);
  const mayWrite = useMay().write;
  if (memory.valid_to !== undefined)
    return (
      <Text size="sm" c="dimmed">
        This held until <Time value={memory.valid_to} />.
      </Text>
    );
  return (
    <Group gap="xs">
      <Text size="sm" c="dimmed">
        This memory was deleted.
      </Text>
      {mayWrite && (
        <Button
          size="xs"
          variant="light"
          leftSection={<TbRestore size={15} />}
          loading={restore.isPending}
          onClick={() =>
            restore.mutate(
              { id: memory.id },
              { onError: error => notifyFailure('Could not restore the memory', error) },
            )
          }
        >
          Restore
        </Button>
      )}
    </Group>
  );
}

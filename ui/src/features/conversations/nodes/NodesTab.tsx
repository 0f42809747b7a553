import { Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { TbEraser, TbHierarchy2 } from 'react-icons/tb';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import { type NodeMemory, useClearNodeMemory, useNodeMemories } from '@/shared/data/conversations/nodes';
import { NodeRecords, RecordRows } from './NodeRecords';
import classes from './Nodes.module.css';

const problems = {
  damaged: 'It cannot be read. It starts empty with the next turn, and the damaged copy is kept.',
  newer: 'Written by a newer version of Mnemoir. This version leaves it alone.',
};

/** What each node of a workflow remembers of the conversation, and a way to make it forget. */
export function NodesTab({ id }: { id: string }) {
  const { data, error, refetch } = useNodeMemories(id);
  const clear = useClear(id);
  const mayWrite = useMay().write;
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState label="Loading node memories" />;
  if (data.results.length === 0) {
    return (
      <EmptyState
        Icon={TbHierarchy2}
        title="No node memories"
        hint="Workflow nodes with a memory of their own keep what they were asked and answered here."
      />
    );
  }
  return (
    <div className={classes.body} tabIndex={0} role="region" aria-label="Node memories">
      <Group justify="space-between" mb="sm">
        <Text size="sm" c="dimmed">
          {data.results.length === 1 ? '1 node remembers' : `${data.results.length} nodes remember`} this conversation
        </Text>
        {mayWrite && (
          <Button size="xs" variant="default" leftSection={<TbEraser aria-hidden />} onClick={() => void clear(null)}>
            Clear all…
          </Button>
        )}
      </Group>
      <Stack gap="sm">
        {data.results.map(memory => (
          <Memory
            key={memory.id}
            conversation={id}
            memory={memory}
            onClear={mayWrite ? () => void clear(memory) : null}
          />
        ))}
      </Stack>
    </div>
  );
}

interface MemoryProps {
  conversation: string;
  memory: NodeMemory;
  /** null where the caller may not. */
  onClear: (() => void) | null;
}

function Memory({ conversation, memory, onClear }: MemoryProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card withBorder padding="sm" component="article" aria-label={nameOf(memory)}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div className={classes.names}>
          <Title order={3} size="h6">
            <Words limit={200}>{nameOf(memory)}</Words>
          </Title>
          <Text size="xs" c="dimmed">
            {memory.workflow && (
              <>
                workflow <Words limit={120}>{memory.workflow}</Words> ·{' '}
              </>
            )}
            {memory.application && (
              <>
                user <Words limit={80}>{memory.application}</Words> ·{' '}
              </>
            )}
            {memory.turns === 1 ? '1 turn' : `${memory.turns.toLocaleString()} turns`} ·{' '}
            {memory.tokens.toLocaleString()} tokens · <Time value={memory.updated_at} ago />
          </Text>
        </div>
        {onClear && (
          <Button
            size="compact-sm"
            variant="default"
            className={classes.clear}
            onClick={onClear}
            aria-label={`Clear ${nameOf(memory)}…`}
          >
            Clear…
          </Button>
        )}
      </Group>
      {memory.problem && (
        <Text size="sm" mt="xs" role="note">
          {problems[memory.problem]}
        </Text>
      )}
      {memory.damaged_copies > 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          {memory.damaged_copies === 1 ? '1 damaged copy is' : `${memory.damaged_copies} damaged copies are`} kept
          beside it; clearing deletes them as well.
        </Text>
      )}
      {isOpen ? <NodeRecords conversation={conversation} memory={memory.id} /> : <RecordRows records={memory.last} />}
      {memory.messages > memory.last.length && (
        <Button size="compact-xs" variant="subtle" mt="xs" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show the last turn' : `Show all ${memory.messages.toLocaleString()} messages`}
        </Button>
      )}
    </Card>
  );
}

function nameOf({ node, id }: NodeMemory): string {
  return node ?? id;
}

function useClear(id: string) {
  const { mutate } = useClearNodeMemory(id);
  return async (memory: NodeMemory | null) => {
    const agreed = await confirm({
      title: memory ? 'Clear this memory?' : 'Clear all node memories?',
      message: memory
        ? `The node “${nameOf(memory).slice(0, 120)}” forgets what it was asked and answered in this conversation. This cannot be undone.`
        : 'All nodes forget what they were asked and answered in this conversation. This cannot be undone.',
      action: 'Clear',
    });
    if (agreed) mutate(memory?.id ?? null, { onError: error => notifyFailure('Could not clear it', error) });
  };
}

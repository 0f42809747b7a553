import { Anchor, Badge, List, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { ErrorState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type Remembering, type RunNode, type RunWhole, useRunMemories } from '@/shared/data/runs/run';
import type { NodeLine } from './lines';

type Learned = Remembering['learned'][number];

const KINDS: Record<Remembering['kind'], [string, string]> = {
  turn: ['the turn, to learn facts from it', 'turns'],
  chunk_summary: ['a summary of a part of the conversation', 'summaries of parts of the conversation'],
  chunk_records: ['records of a part of the conversation', 'parts of the conversation as records'],
  rolling_summary: ['the summary of the conversation so far', 'summaries of the conversation so far'],
  node_memory: ['this round, into the node’s own memory', 'rounds, into the node’s own memory'],
};
const STATES: Record<Remembering['state'], string> = {
  waiting: 'waiting to be processed',
  running: 'being processed',
  done: 'done',
  failed: 'given up',
  gone: 'unknown',
};
const EVENTS: Record<Learned['event'], string> = { ADD: 'added', UPDATE: 'changed', DELETE: 'removed' };

/** What the node read from memory and wrote to it, with what was learned from that behind the answer. */
export function NodeMemory({ run, line }: { run: RunWhole; line: NodeLine }) {
  const { node, place } = line;
  const memories = useRunMemories(run.id, node.written.length > 0);
  if (!node.memories.length && !node.standing.length && !node.written.length)
    return (
      <Text c="dimmed" size="sm">
        This node did not read or write memories.
      </Text>
    );
  return (
    <>
      <Read title="Read" memories={node.memories} />
      <Read title="Of former questions" memories={node.standing} />
      {memories.isError && <ErrorState error={memories.error} onRetry={() => void memories.refetch()} />}
      {memories.data?.written
        .filter(one => one.node === place)
        .map((one, at) => (
          <Written key={at} written={one} />
        ))}
    </>
  );
}

function Read({ title, memories }: { title: string; memories: RunNode['memories'] }) {
  if (!memories.length) return null;
  return (
    <>
      <Title order={4} size="h6" mb={4}>
        {title}
      </Title>
      <List size="sm" mb="sm" spacing={4} aria-label={title}>
        {memories.map((memory, at) => (
          <List.Item key={at}>
            <Remembered id={memory.id} text={memory.text} />
          </List.Item>
        ))}
      </List>
    </>
  );
}

function Written({ written }: { written: Remembering }) {
  const [one, many] = KINDS[written.kind];
  return (
    <>
      <Title order={4} size="h6" mb={4}>
        Written
      </Title>
      <Text size="sm" mb={4}>
        {written.count === 1 ? one : `${written.count} ${many}`}
        {written.kind === 'turn' && ` (${STATES[written.state]})`}
      </Text>
      {written.error && (
        <Text size="sm" c="var(--mantine-color-error)">
          <Words>{written.error}</Words>
        </Text>
      )}
      {written.left_out.secret && (
        <Text size="sm" c="dimmed">
          Not kept, since it tells a secret: {written.left_out.secret}
        </Text>
      )}
      {written.kind === 'turn' && written.state === 'done' && !written.learned.length && !written.proposed.length && (
        <Text size="sm" c="dimmed">
          Nothing to remember.
        </Text>
      )}
      <List size="sm" spacing={4}>
        {written.learned.map(learned => (
          <List.Item key={learned.id}>
            <Badge size="xs" variant="light" mr={6} color={learned.event === 'DELETE' ? 'red' : 'pine'} autoContrast>
              {EVENTS[learned.event]}
            </Badge>
            {learned.text === null ? (
              <Text span size="sm" c="dimmed">
                a deleted memory
              </Text>
            ) : (
              <Remembered id={learned.id} text={learned.text} />
            )}
          </List.Item>
        ))}
        {written.proposed.map(proposed => (
          <List.Item key={proposed.id}>
            <Badge size="xs" variant="light" mr={6} color="gray" autoContrast>
              {EVENTS[proposed.event]} proposed
            </Badge>
            {proposed.text === null ? (
              <Text span size="sm" c="dimmed">
                reviewed since
              </Text>
            ) : (
              <Words>{proposed.text}</Words>
            )}
          </List.Item>
        ))}
      </List>
    </>
  );
}

function Remembered({ id, text }: { id: string; text: string }) {
  if (!id) return <Words>{text}</Words>;
  return (
    <Anchor component={Link} to={`/memories?id=${encodeURIComponent(id)}`} size="sm">
      <Words>{text}</Words>
    </Anchor>
  );
}

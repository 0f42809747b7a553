import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { Words } from '@/shared/components/Words';
import { type NodeRecord, useNodeRecords } from '@/shared/data/conversations/nodes';
import classes from './Nodes.module.css';

/** All that a node remembers, oldest first. */
export function NodeRecords({ conversation, memory }: { conversation: string; memory: string }) {
  const { data, error, refetch } = useNodeRecords(conversation, memory);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <LoadingState label="Loading memory" />;
  const rows = data.results.map((record, at) => ({ record, at }));
  return (
    <div className={classes.all}>
      <VirtualRows items={rows} rowKey={row => row.at} label="What the node remembers" estimate={64}>
        {({ record }) => <Row record={record} />}
      </VirtualRows>
    </div>
  );
}

export function RecordRows({ records }: { records: readonly NodeRecord[] }) {
  return records.map((record, at) => <Row key={at} record={record} />);
}

function Row({ record: { role, content, turn, created_at: at, files, tool_calls: calls } }: { record: NodeRecord }) {
  return (
    <div className={classes.record}>
      <Text size="xs" c="dimmed">
        <b>{role === 'user' ? 'asked' : role === 'assistant' ? 'answered' : role}</b> · <Time value={at} />
        {files > 0 && ` · ${files} files`}
        {calls > 0 && ` · ${calls} tool calls`}
        {role === 'user' && turn.startsWith('run_') && (
          <>
            {' · '}
            <Anchor component={Link} to={`/runs?id=${encodeURIComponent(turn)}`} size="xs" underline="always">
              Run
            </Anchor>
          </>
        )}
      </Text>
      <Words limit={2000}>{content}</Words>
    </div>
  );
}

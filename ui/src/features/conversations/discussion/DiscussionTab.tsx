import { SegmentedControl, Text, Title } from '@mantine/core';
import { TbLock, TbNotes } from 'react-icons/tb';
import { useState } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import { isOfAKey, type Kind, type Overview, useDiscussion } from '@/shared/data/discussions/discussion';
import classes from './Discussion.module.css';
import { MemoryList } from './MemoryList';
import { Rebuild } from './Rebuild';

/** What is remembered of the discussion that is called as the conversation. */
export function DiscussionTab({ id }: { id: string }) {
  const { data, error, isPending, refetch } = useDiscussion(id);
  if (isOfAKey(error))
    return (
      <EmptyState
        Icon={TbLock}
        title="Only the client’s key opens this"
        hint="The memory of this conversation is encrypted with the key of the app that had it, which the server does not keep. To see it, use that key: in the app, on the command line, or to sign in to this page."
      />
    );
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (isPending) return <LoadingState label="Loading discussion memory" />;
  if (!data) {
    return (
      <EmptyState
        Icon={TbNotes}
        title="No discussion memory yet"
        hint="Workflows with a discussion memory node keep summaries and records of long discussions here."
      />
    );
  }
  return <Remembered id={id} overview={data} />;
}

function Remembered({ id, overview }: { id: string; overview: Overview }) {
  const [kind, setKind] = useState<Kind>(
    overview.chunk_summaries > 0 || overview.records === 0 ? 'summaries' : 'records',
  );
  const mayWrite = useMay().write;
  const kinds = [
    { value: 'summaries', label: `Chunk summaries (${overview.chunk_summaries.toLocaleString()})` },
    { value: 'records', label: `Records (${overview.records.toLocaleString()})` },
  ];
  return (
    <div className={classes.tab}>
      <div className={classes.top} tabIndex={0} role="region" aria-label="Rolling summary">
        <div className={classes.headline}>
          <Title order={3} size="h6">
            Rolling summary
          </Title>
          {mayWrite && <Rebuild id={id} />}
        </div>
        {overview.summary ? (
          <>
            <Words limit={4000}>{overview.summary.text}</Words>
            <Text size="xs" c="dimmed" mt={4}>
              {overview.summary.updated_at && <Time value={overview.summary.updated_at} />}
              {overview.summary.made_by && (
                <>
                  {' by '}
                  <Words limit={120}>{overview.summary.made_by}</Words>
                </>
              )}
            </Text>
          </>
        ) : (
          <Text size="sm" c="dimmed">
            None yet.
          </Text>
        )}
      </div>
      <SegmentedControl
        className={classes.kinds ?? ''}
        size="xs"
        data={kinds}
        value={kind}
        onChange={value => setKind(value as Kind)}
        aria-label="Memories"
      />
      <MemoryList key={kind} id={id} kind={kind} />
    </div>
  );
}

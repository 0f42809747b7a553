import { TbFileText } from 'react-icons/tb';
import { useCallback, useMemo } from 'react';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { useMay } from '@/shared/data/access';
import {
  type ChunkSummary,
  type DiscussionRecord,
  type Kind,
  useDiscussionMemories,
  useForgetChunk,
} from '@/shared/data/discussions/discussion';
import classes from './Discussion.module.css';
import { RecordCard, SummaryCard } from './MemoryCards';

/** Chunk summaries or records of a discussion. */
export function MemoryList({ id, kind }: { id: string; kind: Kind }) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useDiscussionMemories(
    id,
    kind,
  );
  const forget = useForget(id, kind);
  const mayWrite = useMay().write;
  const all = useMemo(() => data?.pages.flatMap<ChunkSummary | DiscussionRecord>(page => page.results) ?? [], [data]);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);

  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (isPending) return <LoadingState label="Loading memories" />;
  if (all.length === 0)
    return <EmptyState Icon={TbFileText} title={kind === 'records' ? 'No records yet' : 'No chunk summaries yet'} />;
  return (
    <div className={classes.memories}>
      <VirtualRows
        items={all}
        rowKey={memory => memory.id}
        label={kind === 'records' ? 'Records' : 'Chunk summaries'}
        estimate={110}
        onEndReached={more}
      >
        {memory =>
          'hash' in memory ? (
            <SummaryCard summary={memory} {...(mayWrite && { onForget: () => void forget(memory.id) })} />
          ) : (
            <RecordCard
              record={memory}
              {...(mayWrite && memory.chunk !== null && { onForget: () => void forget(memory.chunk as string) })}
            />
          )
        }
      </VirtualRows>
    </div>
  );
}

function useForget(id: string, kind: Kind) {
  const { mutate } = useForgetChunk(id, kind);
  return async (key: string) => {
    const agreed = await confirm({
      title: kind === 'records' ? 'Forget this record?' : 'Forget this chunk?',
      message:
        'Its source text is forgotten, with everything made from it:  ' +
        (kind === 'records' ? 'this record and the others of the same chunk' : 'this summary') +
        ', and the rolling summary if it may contain it. This cannot be undone.',
      action: 'Forget',
    });
    if (agreed) mutate(key, { onError: error => notifyFailure('Could not forget it', error) });
  };
}

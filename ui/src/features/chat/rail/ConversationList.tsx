import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { type Conversation, useConversations } from '@/shared/data/conversations/list';
import { ConversationRow } from './ConversationRow';
import { type Grouped, groupByDay } from './groupByDay';
import classes from './rail.module.css';

/** All conversations, newest activity first, below the days they were last used on. */
export function ConversationList({ onChosen }: { onChosen: () => void }) {
  const { conversations, isPending, isError, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useConversations();
  const rows = useMemo(() => groupByDay(conversations, one => one.updated_at), [conversations]);

  if (isPending) return <LoadingState label="Loading conversations" />;
  if (isError && !conversations.length) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!rows.length) return <EmptyState title="No conversations yet" hint="Your chats appear here." />;
  return (
    <div className={classes.list}>
      <VirtualRows
        items={rows}
        rowKey={rowKey}
        label="Conversations"
        estimate={36}
        onEndReached={() => {
          if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
        }}
      >
        {row =>
          'heading' in row ? (
            <Text component="h2" className={classes.heading}>
              {row.heading}
            </Text>
          ) : (
            <ConversationRow conversation={row.item} onChosen={onChosen} />
          )
        }
      </VirtualRows>
    </div>
  );
}

function rowKey(row: Grouped<Conversation>): string {
  return 'heading' in row ? `day ${row.heading}` : `id ${row.item.id}`;
}

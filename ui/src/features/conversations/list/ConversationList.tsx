import { Badge, Button, Group, Text } from '@mantine/core';
import { TbMessages } from 'react-icons/tb';
import { memo, useCallback, useMemo } from 'react';
import { Link } from 'react-router';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { Words } from '@/shared/components/Words';
import { type Conversation, useConversations } from '@/shared/data/conversations/list';
import { useAddress } from '../address';
import classes from './List.module.css';

/** A user's conversations, newest activity first. */
export function ConversationList() {
  const { address, linkTo } = useAddress();
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useConversations();
  const all = useMemo(() => data?.pages.flatMap(page => page.results) ?? [], [data]);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);

  if (error && all.length === 0) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (isPending) return <LoadingState label="Loading conversations" />;
  if (all.length === 0) {
    return (
      <EmptyState
        Icon={TbMessages}
        title="No conversations yet"
        hint="Your chats appear here. Chats of ChatGPT and Open WebUI can be imported."
      >
        <Button component={Link} to="/" size="xs" variant="light">
          Start a chat
        </Button>
      </EmptyState>
    );
  }
  return (
    <VirtualRows
      items={all}
      rowKey={conversation => conversation.id}
      label="Conversations"
      estimate={74}
      onEndReached={more}
      {...(hasNextPage ? { total: -1 } : {})}
      className={classes.scroller ?? ''}
    >
      {conversation => (
        <Row
          conversation={conversation}
          to={linkTo({ id: conversation.id, message: null })}
          isChosen={conversation.id === address.id}
        />
      )}
    </VirtualRows>
  );
}

interface RowProps {
  conversation: Conversation;
  to: string;
  isChosen: boolean;
}

const Row = memo(function Row({ conversation, to, isChosen }: RowProps) {
  const { id, title, preview, message_count: count, updated_at: at, tags } = conversation;
  return (
    <Link data-row to={to} className={classes.entry ?? ''} aria-current={isChosen ? 'page' : undefined}>
      <span className={classes.title}>
        <Words limit={200}>{title || preview || id}</Words>
      </span>
      {title && preview && (
        <span className={classes.preview}>
          <Words limit={200}>{preview}</Words>
        </span>
      )}
      <Group gap={6} className={classes.facts}>
        <Text span size="xs" c="dimmed">
          <Time value={at} ago /> · {count === 1 ? '1 message' : `${count.toLocaleString()} messages`}
        </Text>
        {tags.slice(0, 3).map(tag => (
          <Badge key={tag} size="xs" variant="default" className={classes.tag}>
            <Words limit={40}>{tag}</Words>
          </Badge>
        ))}
      </Group>
    </Link>
  );
});

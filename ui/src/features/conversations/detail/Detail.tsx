import { Tabs } from '@mantine/core';
import { TbMessageOff } from 'react-icons/tb';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useConversation } from '@/shared/data/conversations/conversation';
import { useAddress } from '../address';
import { DiscussionTab } from '../discussion/DiscussionTab';
import { NodesTab } from '../nodes/NodesTab';
import { TranscriptTab } from '../transcript/TranscriptTab';
import { WindowTab } from '../window/WindowTab';
import { DetailHead } from './DetailHead';
import classes from './Detail.module.css';

/** One conversation: what is noted about it, and four looks at it. */
export function Detail({ id }: { id: string }) {
  const { address, change } = useAddress();
  const { data: conversation, error, refetch } = useConversation(id);
  if (conversation === null) {
    return (
      <EmptyState
        Icon={TbMessageOff}
        title="Conversation not found"
        hint="It was deleted, or it belongs to another user or project."
      />
    );
  }
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!conversation) return <LoadingState label="Loading conversation" />;
  return (
    <>
      <DetailHead conversation={conversation} />
      <Tabs
        className={classes.tabs}
        value={address.tab}
        keepMounted={false}
        onChange={tab => change({ tab: tab === 'transcript' ? null : tab }, false)}
      >
        <Tabs.List className={classes.list}>
          <Tabs.Tab value="transcript">Transcript</Tabs.Tab>
          <Tabs.Tab value="window">Window</Tabs.Tab>
          <Tabs.Tab value="discussion">Discussion</Tabs.Tab>
          <Tabs.Tab value="nodes">Nodes</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="transcript" className={classes.panel}>
          <TranscriptTab key={id} conversation={conversation} />
        </Tabs.Panel>
        <Tabs.Panel value="window" className={classes.panel}>
          <WindowTab key={id} conversation={conversation} />
        </Tabs.Panel>
        <Tabs.Panel value="discussion" className={classes.panel}>
          <DiscussionTab id={id} />
        </Tabs.Panel>
        <Tabs.Panel value="nodes" className={classes.panel}>
          <NodesTab id={id} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

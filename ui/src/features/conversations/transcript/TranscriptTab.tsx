import { Button, Drawer, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useCallback } from 'react';
import { TbGitFork, TbMessages } from 'react-icons/tb';
import { notifyFailure } from '@/shared/components/notify';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useMay } from '@/shared/data/access';
import { useBranchConversation } from '@/shared/data/conversations/conversation';
import type { Conversation } from '@/shared/data/conversations/list';
import { type Message, useBranches, usePinMessage } from '@/shared/data/conversations/messages';
import { useSetHead } from '@/shared/data/conversations/thread';
import { useAddress } from '../address';
import type { TellState } from '../window/states';
import { Branches } from './Branches';
import { Transcript } from './Transcript';
import classes from './Transcript.module.css';
import { useTranscript } from './useTranscript';

interface TranscriptTabProps {
  conversation: Conversation;
  /** What stands above the messages, of which some are loaded. */
  above?: (loaded: readonly Message[]) => ReactNode;
  tellState?: TellState | undefined;
}

/** The messages down the page, and beside them all branches. */
export function TranscriptTab({ conversation, above, tellState }: TranscriptTabProps) {
  const { address, change } = useAddress();
  const { error, refetch, goTo, ...shown } = useTranscript(conversation.id, address.message);
  const { messages, isReady, newer } = shown;
  const tree = useBranches(conversation.id);
  const [isOpen, drawer] = useDisclosure(false);
  const acts = useActs(conversation.id);
  const choose = (id: number) => {
    drawer.close();
    change({ message: id });
  };

  if (error) return <ErrorState error={error} onRetry={refetch} />;
  if (messages.length === 0) {
    if (!isReady) return <LoadingState label="Loading messages" />;
    return (
      <EmptyState Icon={TbMessages} title="No messages yet" hint="Messages appear here as soon as there are some." />
    );
  }
  const total = tree.data?.pages[0]?.total ?? 1;
  const branches = (
    <Branches
      branches={tree.data?.pages.flatMap(page => page.results) ?? []}
      total={total}
      loaded={messages}
      onChoose={choose}
      onEndReached={() => {
        if (tree.hasNextPage && !tree.isFetching) void tree.fetchNextPage();
      }}
    />
  );
  return (
    <div className={classes.pane}>
      <div className={classes.main}>
        {above?.(messages)}
        {tree.isError && <ErrorState error={tree.error} title="Branches could not be loaded" />}
        {total > 1 && (
          <Button
            className={classes.branchesButton}
            size="compact-sm"
            variant="default"
            m="xs"
            leftSection={<TbGitFork aria-hidden />}
            onClick={drawer.open}
          >
            Branches
          </Button>
        )}
        <OffThread
          key={address.message} // an answer that comes after another branch was chosen leaves that one in sight
          conversation={conversation}
          end={messages.at(-1)}
          isEnd={newer.state === 'none'}
          onThread={() => change({ message: null })}
        />
        <Transcript
          conversation={conversation.id}
          total={conversation.message_count}
          {...shown}
          tellState={tellState}
          onEnd={goTo}
          onBranch={choose}
          {...acts}
        />
      </div>
      {total > 1 && (
        <aside className={classes.branches} aria-label="All branches">
          <Title order={3} size="h6" className={classes.branchesTitle}>
            Branches
          </Title>
          {branches}
        </aside>
      )}
      <Drawer opened={isOpen} onClose={drawer.close} title="Branches" position="right" closeButtonProps={CLOSE}>
        {branches}
      </Drawer>
    </div>
  );
}

const CLOSE = { 'aria-label': 'Close' };

interface OffThreadProps {
  conversation: Conversation;
  /** The newest message that is loaded. */
  end: Message | undefined;
  /** Whether nothing stands behind it. */
  isEnd: boolean;
  onThread: () => void;
}

/** Says that another branch is shown than the one that chats go on with, and lets them go on with this one. */
function OffThread({ conversation, end, isEnd, onThread }: OffThreadProps) {
  const { mutate, isPending } = useSetHead(conversation.id);
  const mayWrite = useMay().write;
  if (!end || end.on_thread) return null;
  const take = () =>
    mutate(
      { message_id: end.id, to_newest: !isEnd },
      { onSuccess: onThread, onError: error => notifyFailure('Could not switch branches', error) },
    );
  return (
    <div className={classes.notice} role="status">
      <Text span size="sm">
        This is not the branch that chats continue on.
      </Text>
      <Button size="compact-sm" variant="default" onClick={onThread}>
        Show that branch
      </Button>
      {mayWrite && (
        <Button size="compact-sm" variant="light" loading={isPending} onClick={take}>
          Continue with this branch
        </Button>
      )}
    </div>
  );
}

/** Pinning, and a new conversation from a message. */
function useActs(id: string) {
  const { change } = useAddress();
  const { mutate: pin } = usePinMessage(id);
  const { mutate: branch } = useBranchConversation(id);
  const onPin = useCallback(
    (message: Message) =>
      pin(
        { message_id: message.id, pinned: !message.pinned },
        { onError: error => notifyFailure('Could not change the pin', error) },
      ),
    [pin],
  );
  const onCopyBranch = (message: number) =>
    branch(message, {
      onSuccess: made => change({ id: made.id, tab: null, message: null }, false),
      onError: error => notifyFailure('Could not create the conversation', error),
    });
  return { onPin, onCopyBranch };
}

import { Button, Drawer, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useCallback, useMemo } from 'react';
import { TbGitFork } from 'react-icons/tb';
import { notifyFailure } from '@/shared/components/notify';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useAddress } from '../address';
import { useBranchConversation } from '../api/branchConversation';
import { type Message, useMessages } from '../api/getMessages';
import type { Conversation } from '../api/listConversations';
import { usePinMessage } from '../api/pinMessage';
import { useSetHead } from '../api/setHead';
import type { MessageState } from '../window/states';
import { Branches } from './Branches';
import { Transcript } from './Transcript';
import { shownWay, stretchesOf, type Tree, treeOf } from './tree';
import classes from './Transcript.module.css';

interface TranscriptTabProps {
  conversation: Conversation;
  /** What stands above the messages. */
  above?: (tree: Tree) => ReactNode;
  states?: ReadonlyMap<number, MessageState>;
}

/** The messages down the page, and beside them all branches. */
export function TranscriptTab({ conversation, above, states }: TranscriptTabProps) {
  const { address, change } = useAddress();
  const { messages, isWhole, error, refetch } = useMessages(conversation.id);
  const [isOpen, drawer] = useDisclosure(false);
  const tree = useMemo(() => treeOf(messages), [messages]);
  const branches = useMemo(() => stretchesOf(tree).length, [tree]);
  const way = useMemo(
    () => shownWay(tree, conversation.head, address.message),
    [tree, conversation.head, address.message],
  );
  const acts = useActs(conversation.id);
  const choose = (id: number) => {
    drawer.close();
    change({ message: id });
  };

  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!isWhole) {
    return <LoadingState label={`Loading messages: ${messages.length.toLocaleString()} so far`} />;
  }
  if (way.length === 0)
    return <EmptyState title="Nothing was said yet" hint="Messages stand here once there are any." />;
  return (
    <div className={classes.pane}>
      <div className={classes.main}>
        {above?.(tree)}
        {branches > 1 && (
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
        <OffThread conversation={conversation} way={way} onThread={() => change({ message: null })} />
        <Transcript
          conversation={conversation.id}
          tree={tree}
          way={way}
          chosen={address.message}
          {...(states && { states })}
          onBranch={choose}
          {...acts}
        />
      </div>
      {branches > 1 && (
        <aside className={classes.branches} aria-label="All branches">
          <Title order={3} size="h6" className={classes.branchesTitle}>
            Branches
          </Title>
          <Branches tree={tree} way={way} onChoose={choose} />
        </aside>
      )}
      <Drawer opened={isOpen} onClose={drawer.close} title="Branches" position="right" closeButtonProps={CLOSE}>
        <Branches tree={tree} way={way} onChoose={choose} />
      </Drawer>
    </div>
  );
}

const CLOSE = { 'aria-label': 'Close' };

interface OffThreadProps {
  conversation: Conversation;
  way: readonly Message[];
  onThread: () => void;
}

/** Says that another branch is shown than the one that chats go on with, and lets them go on with this one. */
function OffThread({ conversation, way, onThread }: OffThreadProps) {
  const { mutate, isPending } = useSetHead(conversation.id);
  const end = way.at(-1);
  if (!end || end.on_thread) return null;
  const take = () =>
    mutate(end.id, { onSuccess: onThread, onError: error => notifyFailure('The thread is as it was', error) });
  return (
    <div className={classes.notice} role="status">
      <Text span size="sm">
        This branch is not the one that chats go on with.
      </Text>
      <Button size="compact-sm" variant="default" onClick={onThread}>
        Show that one
      </Button>
      <Button size="compact-sm" variant="light" loading={isPending} onClick={take}>
        Go on with this branch
      </Button>
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
        { onError: error => notifyFailure('The pin is as it was', error) },
      ),
    [pin],
  );
  const onCopyBranch = (message: number) =>
    branch(message, {
      onSuccess: made => change({ id: made.id, tab: null, message: null }, false),
      onError: error => notifyFailure('No conversation was made', error),
    });
  return { onPin, onCopyBranch };
}

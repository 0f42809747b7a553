import { Text } from '@mantine/core';
import { type DragEvent, type KeyboardEvent, useCallback, useEffect, useState } from 'react';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import { useConversation } from '@/shared/data/conversations/conversation';
import { furtherOf } from '@/shared/data/further';
import { useThread } from '@/shared/data/conversations/thread';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import { ArtifactsBar } from './artifacts/ArtifactsBar';
import { NoMemoryNotice } from './artifacts/NoMemoryNotice';
import classes from './ChatPage.module.css';
import { Composer } from './composer/Composer';
import { useAttached } from './composer/useAttached';
import { nameOf } from './rail/nameOf';
import { RailButton } from './rail/RailButton';
import { EmptyChat } from './thread/EmptyChat';
import { isBusy } from './thread/talk';
import { Thread } from './thread/Thread';
import { useTurn } from './thread/turns';
import { useSought } from './thread/useSought';
import { useTakingUp } from './thread/useTakingUp';
import { type Talk, useTalk } from './thread/useTalk';

interface ChatProps {
  conversation: string | null;
  /** The message to be looked at; null for the newest. */
  sought: number | null;
}

/** One conversation: its thread, and where the next message is written. */
export function Chat({ conversation, sought }: ChatProps) {
  const talk = useTalk(conversation);
  useTakingUp(talk.place);
  const mayWrite = useMay().write;
  const turn = useTurn(talk.place);
  const attached = useAttached();
  const [isDropping, setDropping] = useState(false);
  const thread = useThread(conversation);
  const parentId = conversation === null ? 0 : thread.data ? (thread.data.messages.at(-1)?.id ?? 0) : null;

  const onKeyDown = (event: KeyboardEvent) => {
    const isHere = event.target instanceof Node && event.currentTarget.contains(event.target); // and in no dialog
    if (event.key === 'Escape' && isHere) talk.stop();
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setDropping(false);
    attached.add(event.dataTransfer.files);
  };
  return (
    // keys and drops reach it from the controls within
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      className={classes.chat}
      aria-label="Chat"
      data-dropping={isDropping || undefined}
      onKeyDown={onKeyDown}
      onDragOver={event => {
        event.preventDefault();
        setDropping(event.dataTransfer.types.includes('Files'));
      }}
      onDragLeave={() => setDropping(false)}
      onDrop={onDrop}
    >
      <div className={classes.top}>
        <RailButton />
        <ChatTitle conversation={conversation} />
        <NoMemoryNotice />
        <ArtifactsBar />
      </div>
      <Said conversation={conversation} sought={sought} talk={talk} thread={thread} />
      {mayWrite ? (
        <Composer
          conversation={conversation}
          talk={talk}
          attached={attached}
          parentId={parentId}
          isBusy={isBusy(turn)}
        />
      ) : (
        <Text size="sm" c="dimmed" ta="center" p="md">
          Your role can read conversations, but not write in them.
        </Text>
      )}
    </section>
  );
}

function ChatTitle({ conversation }: { conversation: string | null }) {
  const { data: known } = useConversation(conversation);
  return (
    <h1 className={classes.title}>
      <Words>{known ? nameOf(known) : 'New chat'}</Words>
    </h1>
  );
}

interface SaidProps extends ChatProps {
  talk: Talk;
  thread: ReturnType<typeof useThread>;
}

function Said({ conversation, sought, talk, thread }: SaidProps) {
  const turn = useTurn(talk.place);
  const past = useSought(conversation, sought, thread);
  const goToNewest = useLeaveMessage();
  const { data, older } = thread;
  const cursor = data?.older ?? null;
  const { mutate } = older;
  const isLeft = turn !== undefined && past !== null; // what is said now stands at the other end
  useEffect(() => {
    if (isLeft) goToNewest();
  }, [isLeft, goToNewest]);

  if (!turn && thread.isError) return <ErrorState error={thread.error} onRetry={() => void thread.refetch()} />;
  if (!turn && conversation !== null && !data) return <LoadingState label="Loading conversation" />;
  if (!turn && !data?.messages.length) return <EmptyChat talk={talk} />;
  if (past && !turn) {
    return <Thread key="past" {...past} turn={turn} talk={talk} sought={sought} onNewest={goToNewest} />;
  }
  return (
    <Thread
      key="newest"
      messages={data?.messages ?? []}
      turn={turn}
      talk={talk}
      sought={sought}
      older={{
        state: furtherOf(cursor !== null, older.isPending, older.isError),
        load: () => {
          if (cursor) mutate(cursor);
        },
      }}
    />
  );
}

/** Names no message in the address any longer. */
function useLeaveMessage() {
  const { change } = useAddressParams();
  return useCallback(() => change({ message: null }, { replace: true }), [change]);
}

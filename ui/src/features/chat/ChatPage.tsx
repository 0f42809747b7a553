import { useEffect } from 'react';
import { useThreads } from '@/shared/data/conversations/thread';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import { ArtifactsPane } from './artifacts/ArtifactsPane';
import { Chat } from './Chat';
import classes from './ChatPage.module.css';
import { DockedMemory } from './memory/DockedMemory';
import { ConversationRail } from './rail/ConversationRail';
import { followOtherTabs } from './thread/otherTabs';

/** Conversations and pinned memories at the left, the chat of the address in the middle, its files at the right. */
export function ChatPage() {
  const { params } = useAddressParams();
  const conversation = params.get('conversation');
  const threads = useThreads();
  useEffect(() => followOtherTabs(threads), [threads]);
  return (
    <div className={classes.page}>
      <ConversationRail />
      <DockedMemory />
      <Chat key={conversation} conversation={conversation} sought={numberOf(params.get('message'))} />
      <ArtifactsPane />
    </div>
  );
}

function numberOf(text: string | null): number | null {
  return text !== null && /^[1-9]\d*$/.test(text) ? Number(text) : null;
}

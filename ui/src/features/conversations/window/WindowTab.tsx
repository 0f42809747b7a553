import { useMemo } from 'react';
import type { Conversation } from '@/shared/data/conversations/list';
import { useWindow } from '@/shared/data/conversations/window';
import { useAddress } from '../address';
import { TranscriptTab } from '../transcript/TranscriptTab';
import { stateTeller } from './states';
import { WindowPanel } from './WindowPanel';

/** The transcript with what became of each message in the window. */
export function WindowTab({ conversation }: { conversation: Conversation }) {
  const { address } = useAddress();
  const { strategy, budget, question } = address;
  const { data, error } = useWindow(conversation.id, { strategy, budget, question });
  const tellState = useMemo(() => data && stateTeller(data), [data]);
  return (
    <TranscriptTab
      conversation={conversation}
      above={loaded => <WindowPanel conversation={conversation.id} window={data} error={error} loaded={loaded} />}
      tellState={tellState}
    />
  );
}

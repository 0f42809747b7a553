import { useNavigate } from 'react-router';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { useForgetConversation } from '@/shared/data/conversations/conversation';
import type { Conversation } from '@/shared/data/conversations/list';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import { nameOf } from './nameOf';

const MOST_NAMED = 80; // characters

/**
 * Asks, then forgets the conversation; a new chat takes its place when it was the one on the screen. `list` gets the
 * focus that its row had.
 */
export function useForgetting(conversation: Conversation): (list: HTMLElement | null) => Promise<void> {
  const forget = useForgetConversation(conversation.id);
  const navigate = useNavigate();
  const { params } = useAddressParams();
  return async list => {
    const isSure = await confirm({
      title: 'Delete this conversation?',
      message:
        `“${nameOf(conversation).slice(0, MOST_NAMED)}” will be deleted with its files and the memories ` +
        'learned only from it. This cannot be undone.',
      action: 'Delete',
    });
    if (!isSure) return;
    try {
      await forget.mutateAsync();
      list?.focus();
      if (params.get('conversation') === conversation.id) await navigate('/');
    } catch (error) {
      notifyFailure('Could not delete the conversation', error);
    }
  };
}

import { useNavigate, useSearchParams } from 'react-router';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import type { Conversation } from '../api/conversations';
import { useForgetConversation } from '../api/conversations-forget';
import { nameOf } from './nameOf';

const MOST_NAMED = 80; // characters

/**
 * Asks, then forgets the conversation; a new chat takes its place when it was the one on the screen. `list` gets the
 * focus that its row had.
 */
export function useForgetting(conversation: Conversation): (list: HTMLElement | null) => Promise<void> {
  const forget = useForgetConversation();
  const navigate = useNavigate();
  const [search] = useSearchParams();
  return async list => {
    const isSure = await confirm({
      title: 'Delete this conversation?',
      message:
        `“${nameOf(conversation).slice(0, MOST_NAMED)}” is forgotten with its files, and so are the memories that ` +
        'were learned from it alone. This cannot be undone.',
      action: 'Delete',
    });
    if (!isSure) return;
    try {
      await forget.mutateAsync(conversation.id);
      list?.focus();
      if (search.get('conversation') === conversation.id) await navigate('/');
    } catch (error) {
      notifyFailure('The conversation could not be deleted', error);
    }
  };
}

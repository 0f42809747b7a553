import type { Conversation } from '@/shared/data/conversations/list';

/** What a conversation is called: its title, or its first words. */
export function nameOf({ title, preview }: Pick<Conversation, 'title' | 'preview'>): string {
  return title?.trim() || preview || 'Untitled';
}

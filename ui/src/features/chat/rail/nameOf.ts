import type { Conversation } from '../api/conversations';

/** What a conversation is called: its title, or its first words. */
export function nameOf({ title, preview }: Pick<Conversation, 'title' | 'preview'>): string {
  return title?.trim() || preview || 'Untitled';
}

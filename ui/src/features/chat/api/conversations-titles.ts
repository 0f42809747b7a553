import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import { type Conversation, type ConversationPage, CONVERSATIONS } from './conversations';

const MOST_FOUND = 20;
const MOST_PAGES = 20; // the server looks at some thousands of conversations for each

/** Conversations whose title, or first words where there is none, holds all of these words; newest activity first. */
export function useFoundTitles(words: string) {
  const { user, project } = useSettings();
  return useQuery({
    queryKey: [...CONVERSATIONS, 'titles', user, project, words],
    queryFn: async ({ signal }) => {
      const found: Conversation[] = [];
      let cursor: string | null = '';
      for (let page = 0; cursor !== null && page < MOST_PAGES && found.length < MOST_FOUND; page += 1) {
        const query = { user_id: user, project, q: words, limit: MOST_FOUND, ...(cursor && { cursor }) };
        const answer: ConversationPage = await unwrap(
          client.GET('/api/conversations', { params: { query }, signal }),
        );
        found.push(...answer.results);
        cursor = answer.next;
      }
      return found;
    },
    enabled: words !== '',
    placeholderData: keepPreviousData,
  });
}

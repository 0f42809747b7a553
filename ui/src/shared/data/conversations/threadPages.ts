import type { Message, MessagePage } from './messages';

type Page = Pick<MessagePage, 'results' | 'next'>;

/** What is loaded of a thread: its newest messages, oldest first, and the cursor of those before them. */
export interface Thread {
  messages: Message[];
  older: string | null;
}

export const NO_MESSAGES: Thread = { messages: [], older: null };

/**
 * The thread with its newest page as it is now. Messages before it stay if the page goes on from one of them: what
 * stands before a message never changes. Otherwise the thread is another one, and begins with the page.
 */
export function withNewest(known: Thread | undefined, { results, next }: Page): Thread {
  const [first] = results;
  const begins = known && first ? known.messages.findIndex(message => message.id === first.parent_id) : -1;
  if (!known || begins < 0) return { messages: results, older: next };
  return { messages: [...known.messages.slice(0, begins + 1), ...results], older: known.older };
}

/** The thread with one more page before what is loaded; as it was if it changed since the page was asked for. */
export function withOlder(known: Thread, { results, next }: Page): Thread {
  const [first] = known.messages;
  if (first?.parent_id !== results.at(-1)?.id) return known;
  return { messages: [...results, ...known.messages], older: next };
}

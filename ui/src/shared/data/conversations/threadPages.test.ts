import type { Message } from './messages';
import { NO_MESSAGES, withNewest, withOlder } from './threadPages';

const message = (id: number, parent_id: number | null) => ({ id, parent_id }) as Message;
const chain = (...ids: number[]) => ids.map((id, at) => message(id, ids[at - 1] ?? null));
const ids = (thread: { messages: Message[] }) => thread.messages.map(({ id }) => id);

const known = { messages: chain(1, 2, 3, 4), older: 'before 1' };

test('a page that goes on from a loaded message keeps what stands before it', () => {
  const page = { results: [message(3, 2), message(4, 3), message(5, 4)], next: 'before 3' };
  expect(withNewest(known, page)).toEqual({ messages: [...chain(1, 2), ...page.results], older: 'before 1' });
});

test('a branch replaces what stood behind its parent', () => {
  expect(ids(withNewest(known, { results: [message(9, 2)], next: 'before 9' }))).toEqual([1, 2, 9]);
});

test('a page of another branch, or of what was never loaded, begins the thread anew', () => {
  expect(withNewest(known, { results: [message(7, 6), message(8, 7)], next: 'more' })).toEqual({
    messages: [message(7, 6), message(8, 7)],
    older: 'more',
  });
  expect(withNewest(known, { results: [message(7, null)], next: null }).older).toBeNull();
  expect(withNewest(undefined, { results: [], next: null })).toEqual(NO_MESSAGES);
});

test('older messages go in front, unless the thread has changed since they were asked for', () => {
  const loaded = { messages: [message(3, 2), message(4, 3)], older: 'before 3' };
  expect(ids(withOlder(loaded, { results: chain(1, 2), next: null }))).toEqual([1, 2, 3, 4]);
  expect(withOlder(loaded, { results: chain(1, 6), next: null })).toBe(loaded);
});

import type { Message } from '@/shared/data/conversations/messages';
import { rowsOf } from './rows';
import type { Turn } from './turns';

const message = (id: number, role: Message['role'], parent_id: number | null) => ({ id, role, parent_id }) as Message;
const talk = [
  message(1, 'user', null),
  message(2, 'assistant', 1),
  message(3, 'user', 2),
  message(4, 'assistant', 3),
];
const turn = (parentId: number, more: Partial<Turn> = {}) =>
  ({ question: { parentId }, again: null, state: 'answering', isKept: true, ...more }) as Turn;
const keys = (...given: Parameters<typeof rowsOf>) => rowsOf(...given).map(row => row.key);

test('a question without an answer says so', () => {
  expect(keys(talk, undefined)).toEqual(['1', '2', '3', '4']);
  expect(keys(talk.slice(0, 3), undefined)).toEqual(['1', '2', '3', 'unanswered']);
  expect(keys(talk.slice(0, 3), undefined, false)).toEqual(['1', '2', '3']);
});

test('a new message stands behind its parent, in place of what followed there', () => {
  expect(keys(talk, turn(4))).toEqual(['1', '2', '3', '4', 'question', 'answer']);
  expect(keys(talk, turn(2))).toEqual(['1', '2', 'question', 'answer']);
  expect(keys(talk, turn(0))).toEqual(['question', 'answer']);
});

test('another answer stands behind the question that is there already', () => {
  expect(keys(talk, turn(0, { again: 1 }))).toEqual(['1', 'answer']);
});

test('a failure stands behind what the server has kept, or behind the message it has not', () => {
  expect(keys(talk.slice(0, 3), turn(2, { state: 'failed' }))).toEqual(['1', '2', '3', 'failure']);
  expect(keys(talk, turn(4, { state: 'failed', isKept: false }))).toEqual([
    '1',
    '2',
    '3',
    '4',
    'question',
    'failure',
  ]);
});

test('an answer knows the question it belongs to', () => {
  const found = rowsOf(talk, undefined).map(row => row.kind === 'message' && row.question?.id);
  expect(found).toEqual([1, 1, 3, 3]);
});

import type { Message } from '@/shared/data/conversations/messages';
import { rowsOf, type TurnPlace } from './rows';

const message = (id: number, role: Message['role'], parent_id: number | null) =>
  ({ id, role, parent_id, content: `words ${id}`, run_id: role === 'assistant' ? `run ${id}` : null }) as Message;
const talk = [
  message(1, 'user', null),
  message(2, 'assistant', 1),
  message(3, 'user', 2),
  message(4, 'assistant', 3),
];
const turn = (parentId: number, more: Partial<TurnPlace> = {}, text = 'new words') =>
  ({
    ...{ question: { parentId, text }, again: null, state: 'answering', isKept: true, runId: '', hasText: false },
    ...more,
  }) as TurnPlace;
const keys = (...given: Parameters<typeof rowsOf>) => rowsOf(...given).map(row => row.key);

test('a question without an answer says so', () => {
  expect(keys(talk, undefined)).toEqual(['1', '2', '3', '4']);
  expect(keys(talk.slice(0, 3), undefined)).toEqual(['1', '2', '3', 'unanswered 3']);
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
  expect(keys(talk.slice(0, 3), turn(2, { state: 'failed' }, 'words 3'))).toEqual(['1', '2', '3', 'failure']);
  expect(keys(talk, turn(4, { state: 'failed', isKept: false }))).toEqual([
    '1',
    '2',
    '3',
    '4',
    'question',
    'failure',
  ]);
});

test('a question that failed stays marked when another one is asked', () => {
  const asked = talk.slice(0, 3);
  expect(keys(asked, turn(3))).toEqual(['1', '2', '3', 'unanswered 3', 'question', 'answer']);
  const later = [...asked, message(5, 'user', 3), message(6, 'assistant', 5)];
  expect(keys(later, undefined)).toEqual(['1', '2', '3', 'unanswered 3', '5', '6']);
});

test('what was on the screen when the connection broke stays there until the stored answer is known', () => {
  const broken = { state: 'failed', runId: 'run 4', hasText: true } as const;
  expect(keys(talk.slice(0, 2), turn(2, broken))).toEqual(['1', '2', 'question', 'partial', 'failure']);
  expect(keys(talk.slice(0, 3), turn(2, broken, 'words 3'))).toEqual(['1', '2', '3', 'partial', 'failure']);
  expect(keys(talk, turn(2, broken, 'words 3'))).toEqual(['1', '2', '3', '4', 'failure']);
  expect(keys(talk, turn(2, { ...broken, runId: 'another', again: 3 }))).toEqual([
    '1',
    '2',
    '3',
    'partial',
    'failure',
  ]);
});

test('an answer knows the question it belongs to', () => {
  const found = rowsOf(talk, undefined).map(row => row.kind === 'message' && row.question?.id);
  expect(found).toEqual([1, 1, 3, 3]);
});

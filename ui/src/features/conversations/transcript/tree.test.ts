import type { Message } from '../api/getMessages';
import { shownWay, siblingsOf, stretchesOf, treeOf } from './tree';

function message(id: number, parent: number | null, more: Partial<Message> = {}): Message {
  return {
    ...{ id, parent_id: parent, role: 'user', content: `message ${id}`, tool_calls: null, tool_call_id: null },
    ...{ name: null, created_at: null, turn_id: null, run_id: null, finish_reason: null, pinned: false },
    ...{ importance: null, on_thread: true, siblings: [id] },
    ...more,
  };
}

/** 1 ─ 2, and 1 ─ 3 ─ 4 beside it, with 3 ─ 5 beside 4; the thread ends with 5. */
const branched = treeOf([
  message(1, null),
  message(2, 1, { on_thread: false }),
  message(3, 1),
  message(4, 3, { on_thread: false }),
  message(5, 3),
]);
const ids = (way: Message[]) => way.map(each => each.id);

describe('a tree of messages', () => {
  it('is shown as the thread where nothing is chosen', () => {
    expect(ids(shownWay(branched, 5, null))).toEqual([1, 3, 5]);
  });

  it('is shown through the chosen message, to the end behind it', () => {
    expect(ids(shownWay(branched, 5, 2))).toEqual([1, 2]);
    expect(ids(shownWay(branched, 5, 4))).toEqual([1, 3, 4]);
    expect(ids(shownWay(branched, 5, 1))).toEqual([1, 3, 5]);
  });

  it('is shown as the thread where the chosen message is none of it', () => {
    expect(ids(shownWay(branched, 5, 99))).toEqual([1, 3, 5]);
  });

  it('ends with the head, even where more stands behind it', () => {
    const tree = treeOf([message(1, null), message(2, 1), message(3, 2, { on_thread: false })]);
    expect(ids(shownWay(tree, 2, null))).toEqual([1, 2]);
    expect(ids(shownWay(tree, 2, 3))).toEqual([1, 2, 3]);
  });

  it('knows what stands beside a message', () => {
    expect(siblingsOf(branched, 3)).toEqual([2, 3]);
    expect(siblingsOf(branched, 1)).toEqual([1]);
  });

  it('is told in stretches without a branch, each behind the one it branches off', () => {
    const told = stretchesOf(branched).map(({ first, last, count, depth, of }) => [
      first.id,
      last.id,
      count,
      depth,
      of,
    ]);
    expect(told).toEqual([
      [1, 1, 1, 0, 1],
      [2, 2, 1, 1, 2],
      [3, 3, 1, 1, 2],
      [4, 4, 1, 2, 2],
      [5, 5, 1, 2, 2],
    ]);
  });

  it('is one line where messages of an older file name no parent', () => {
    const tree = treeOf([message(1, null, { siblings: [] }), message(2, null, { siblings: [] })]);
    expect(ids(shownWay(tree, 2, null))).toEqual([1, 2]);
    expect(stretchesOf(tree)).toHaveLength(1);
  });

  it('stands at the beginning where its parent could not be read', () => {
    expect(ids(shownWay(treeOf([message(7, 3)]), 7, null))).toEqual([7]);
  });

  it('of a hundred thousand messages in a line is walked at once', () => {
    const line = treeOf(Array.from({ length: 100_000 }, (_, at) => message(at + 1, at || null)));
    expect(shownWay(line, 100_000, null)).toHaveLength(100_000);
    expect(stretchesOf(line)).toHaveLength(1);
  });
});

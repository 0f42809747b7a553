import { aNode, aRun, aWorkflow } from '@/shared/testing/runs';
import { changesOf } from './changes';
import { pairsOf } from './pairs';

test('nodes of the same workflow and title stand beside each other, others alone', () => {
  const left = aRun('a', [aNode('Think', { children: [aWorkflow('Inner', aNode('Plan'))] }), aNode('Answer')]);
  const right = aRun('b', [aNode('Think'), aNode('Check'), aNode('Answer')]);
  const told = pairsOf(left, right).map(pair => [pair.title, Boolean(pair.left), Boolean(pair.right)]);
  expect(told).toEqual([
    ['Think', true, true],
    ['Plan', true, false],
    ['Check', false, true],
    ['Answer', true, true],
  ]);
});

test('a node that ran twice is compared with each of its runs', () => {
  const again = () => aNode('Again');
  const pairs = pairsOf(aRun('a', [again(), again()]), aRun('b', [again()]));
  expect(pairs.map(pair => Boolean(pair.right))).toEqual([true, false]);
});

test('what differs in two texts is told word by word', () => {
  expect(changesOf('boil for an hour', 'boil for a day')?.filter(({ kind }) => kind !== 'same')).toEqual([
    { kind: 'removed', text: 'an' },
    { kind: 'added', text: 'a' },
    { kind: 'removed', text: 'hour' },
    { kind: 'added', text: 'day' },
  ]);
});

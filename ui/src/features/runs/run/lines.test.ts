import { aNode, aRun, aWorkflow } from '@/shared/testing/runs';
import { chosenLine, lengthOf, linesOf, spanOf } from './lines';

const inner = aWorkflow(
  'Inner',
  aNode('Plan', { started_ms: 5, duration_ms: 10 }),
  aNode('Check', { started_ms: 15 }),
);
const nodes = [aNode('Think', { started_ms: 4, children: [inner] }), aNode('Answer', { is_responder: true })];

test('nodes are numbered as the server numbers them: each before the workflows it ran', () => {
  const places = linesOf(aRun('r', nodes)).flatMap(line =>
    line.kind === 'node' ? [[line.place, line.node.title]] : [],
  );
  expect(places).toEqual([
    [0, 'Think'],
    [1, 'Plan'],
    [2, 'Check'],
    [3, 'Answer'],
  ]);
});

test('the node that answered is chosen unless another one is', () => {
  const lines = linesOf(aRun('r', nodes));
  expect(chosenLine(lines, null)?.node.title).toBe('Answer');
  expect(chosenLine(lines, 1)?.node.title).toBe('Plan');
  expect(chosenLine(lines, 99)).toBeUndefined();
});

test('of a run that failed the node that failed is chosen', () => {
  const lines = linesOf(aRun('r', [aNode('Think', { error: 'It broke.' }), aNode('Answer', { is_responder: true })]));
  expect(chosenLine(lines, null, true)?.node.title).toBe('Think');
});

test('a workflow reaches from its first node to its last', () => {
  const line = linesOf(aRun('r', nodes)).find(({ kind, depth }) => kind === 'workflow' && depth > 0);
  expect(line && spanOf(line, 100)).toEqual([5, 25]);
});

test('a run is as long as it says, or as its last node', () => {
  const run = aRun('r', [aNode('Late', { started_ms: 300, duration_ms: 100 })]);
  expect(lengthOf(run, linesOf(run))).toBe(400);
});

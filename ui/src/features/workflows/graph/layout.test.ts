import type { GraphNode, WorkflowGraph } from '@/shared/data/workflows';
import { layoutOf, STEP, widthOf } from './layout';

function step(number: number, more: Partial<GraphNode> = {}): GraphNode {
  return {
    number,
    title: `Step ${number}`,
    type: 'Standard',
    kind: 'Standard',
    description: '',
    at: `$[${number - 1}]`,
    role: 'before',
    endpoint: null,
    endpoint_path: null,
    model: null,
    preset: null,
    calls: [],
    uses: [],
    ...more,
  };
}

const graph = (...nodes: GraphNode[]): WorkflowGraph => ({ path: 'Chat.json', user: null, variables: [], nodes });
const call = (name: string) => ({ name, path: null, when: null, at: '$[0].workflowName' });

test('steps stand below each other without touching, however many workflows one of them runs', () => {
  const many = step(1, { calls: ['a', 'b', 'c', 'd', 'e'].map(call) });
  const { boxes } = layoutOf(graph(many, step(2)), 2);
  const bottoms = boxes.filter(box => box.id.startsWith('step-1')).map(box => box.position.y + (box.height ?? 0));
  const second = boxes.find(box => box.id === 'step-2');
  expect(second?.position.y).toBeGreaterThan(Math.max(...bottoms));
  expect(second?.data).toMatchObject({ isCurrent: true });
});

test('a line leads from each output to whoever reads it, once', () => {
  const uses = [1, 1, 9, null, 2].map(source => ({ name: 'x', source, at: '$' }));
  const { lines } = layoutOf(graph(step(1), step(2, { uses })), 0);
  expect(lines.map(line => line.id)).toEqual(['flow-1', 'read-1-2']);
});

test('the step from the answer to what comes behind it says so', () => {
  const { lines } = layoutOf(graph(step(1, { role: 'answers' }), step(2, { role: 'behind' })), 0);
  expect(lines[0]?.label).toBe('after the answer');
});

test('a graph without sub-workflows is as wide as a step', () => {
  expect(widthOf(graph(step(1)))).toBe(STEP.width);
  expect(widthOf(graph(step(1, { calls: [call('a')] })))).toBeGreaterThan(STEP.width);
});

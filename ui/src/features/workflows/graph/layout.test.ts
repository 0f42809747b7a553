import type { GraphNode, WorkflowGraph } from '@/shared/data/workflows';
import { fitOf, layoutOf, STEP } from './layout';

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

test('a short graph fills its canvas and stands in the middle', () => {
  const { x, y, zoom, width } = fitOf(graph(step(1), step(2)), { width: 900, height: 600 });
  expect([zoom, width]).toEqual([1.25, STEP.most]);
  expect(x).toBeCloseTo((900 - (width + 28) * zoom) / 2 + 28 * zoom);
  expect(y).toBeGreaterThan(100);
});

test('a long graph keeps its size, begins at the top, and its steps take the room there is', () => {
  const many = Array.from({ length: 40 }, (_, at) => step(at + 1));
  expect(fitOf(graph(...many), { width: 500, height: 600 })).toEqual({ x: 52, y: 24, zoom: 1, width: 424 });
});

test('a narrow canvas is not scaled until nobody can read it', () => {
  const { zoom, width } = fitOf(graph(step(1, { calls: [call('a')] })), { width: 200, height: 300 });
  expect([zoom, width]).toEqual([0.6, STEP.width]);
});

test('what steps run stands beside them, however wide they are', () => {
  const { boxes } = layoutOf(graph(step(1, { calls: [call('a')] })), 0, 400);
  expect(boxes.map(box => [box.position.x, box.width])).toEqual([
    [0, 400],
    [496, 208],
  ]);
});

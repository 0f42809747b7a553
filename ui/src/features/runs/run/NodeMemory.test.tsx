import { screen, within } from '@testing-library/react';
import { renderAt } from '@/shared/testing/render';
import { aNode, aRun } from '@/shared/testing/runs';
import { chosenLine, linesOf } from './lines';
import { NodeMemory } from './NodeMemory';

const vegan = { id: 'mem_1', text: 'Is vegan', fits: true };
const river = { id: 'mem_2', text: 'Lives by the river', fits: true };

function show(members: Parameters<typeof aNode>[1]) {
  const run = aRun('r1', [aNode('Recall', members)]);
  const line = chosenLine(linesOf(run), null);
  if (line) renderAt('/', <NodeMemory run={run} line={line} />);
}

test('memories of the newest question and of former ones stand apart', () => {
  show({ memories: [river], standing: [vegan] });
  expect(within(screen.getByRole('list', { name: 'Read' })).getByRole('link')).toHaveTextContent(
    'Lives by the river',
  );
  const former = screen.getByRole('list', { name: 'Of former questions' });
  expect(within(former).getByRole('link')).toHaveTextContent('Is vegan');
});

test('a node that wrote former memories again alone did something with memory', () => {
  show({ standing: [vegan] });
  expect(screen.getAllByRole('list')).toHaveLength(1);
  expect(screen.queryByText(/did not read or write/)).toBeNull();
});

import type { RunNode, RunWhole } from '@/shared/data/runs/run';
import { linesOf } from './lines';

export interface Totals {
  nodes: number;
  memories: number;
  input_tokens: number;
  output_tokens: number;
  tokens_counted: boolean;
}

/** Figures of all nodes of a run together. */
export function totalsOf(run: Pick<RunWhole, 'workflows'>): Totals {
  const nodes: RunNode[] = linesOf(run).flatMap(line => (line.kind === 'node' ? [line.node] : []));
  const sum = (figure: (node: RunNode) => number) => nodes.reduce((all, node) => all + figure(node), 0);
  return {
    nodes: nodes.length,
    memories: sum(node => node.memories.length),
    input_tokens: sum(node => node.input_tokens),
    output_tokens: sum(node => node.output_tokens),
    tokens_counted: nodes.some(node => node.tokens_counted),
  };
}

import { diffArrays } from 'diff';
import type { RunNode, RunWhole } from '@/shared/data/runs/run';
import { linesOf } from '../run/lines';

/** A node of one run beside the same node of the other; null where a run has none. */
export interface Pair {
  key: string;
  title: string;
  depth: number;
  left: RunNode | null;
  right: RunNode | null;
}

interface Named {
  key: string;
  depth: number;
  node: RunNode;
}

/** The nodes of both runs in one order; those of the same workflow and title stand beside each other. */
export function pairsOf(left: RunWhole, right: RunWhole): Pair[] {
  const [ours, theirs] = [namedNodes(left), namedNodes(right)];
  const keys = (nodes: readonly Named[]) => nodes.map(({ key }) => key);
  const pairs: Pair[] = [];
  let [at, other] = [0, 0];
  for (const part of diffArrays(keys(ours), keys(theirs))) {
    for (const key of part.value) {
      const one = part.added ? undefined : ours[at++];
      const two = part.removed ? undefined : theirs[other++];
      const shown = one ?? two;
      if (shown)
        pairs.push({
          key,
          title: shown.node.title,
          depth: shown.depth,
          left: one?.node ?? null,
          right: two?.node ?? null,
        });
    }
  }
  return pairs;
}

function namedNodes(run: RunWhole): Named[] {
  const names = new Map<string, string>();
  const seen = new Map<string, number>();
  return linesOf(run).flatMap(line => {
    const name = line.kind === 'node' ? `${line.node.number} ${line.node.title}` : line.workflow.name;
    const path = `${names.get(line.within.at(-1) ?? '') ?? ''}/${name}`;
    names.set(line.key, path);
    if (line.kind !== 'node') return [];
    const times = (seen.get(path) ?? 0) + 1;
    seen.set(path, times);
    return [{ key: `${path}#${times}`, depth: line.depth, node: line.node }];
  });
}

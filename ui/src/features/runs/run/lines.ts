import type { RunNode, RunWhole, RunWorkflow } from '@/shared/data/runs/run';

/** A row of the tree: a workflow, or a node with its `place` among all nodes of the run. */
export type Line = WorkflowLine | NodeLine;

interface Common {
  key: string;
  depth: number;
  /** Keys of the lines it stands within, outermost first. */
  within: readonly string[];
  hasChildren: boolean;
}

export interface WorkflowLine extends Common {
  kind: 'workflow';
  workflow: RunWorkflow;
}

export interface NodeLine extends Common {
  kind: 'node';
  node: RunNode;
  place: number;
}

/** All rows in the order of the tree: each node before the workflows it ran, as the server numbers them. */
export function linesOf(run: Pick<RunWhole, 'workflows'>): Line[] {
  const lines: Line[] = [];
  let place = 0;

  const addWorkflow = (workflow: RunWorkflow, key: string, within: readonly string[]) => {
    lines.push({
      kind: 'workflow',
      key,
      depth: within.length,
      within,
      workflow,
      hasChildren: workflow.nodes.length > 0,
    });
    workflow.nodes.forEach((node, at) => addNode(node, `${key}.${at}`, [...within, key]));
  };
  const addNode = (node: RunNode, key: string, within: readonly string[]) => {
    lines.push({
      kind: 'node',
      key,
      depth: within.length,
      within,
      node,
      place,
      hasChildren: node.children.length > 0,
    });
    place += 1;
    node.children.forEach((child, at) => addWorkflow(child, `${key}.${at}`, [...within, key]));
  };

  run.workflows.forEach((workflow, at) => addWorkflow(workflow, String(at), []));
  return lines;
}

/** The node at a place; for null the one to look at first: what failed a run that failed, else what answered. */
export function chosenLine(lines: readonly Line[], place: number | null, hasFailed = false): NodeLine | undefined {
  const nodes = lines.filter(line => line.kind === 'node');
  if (place !== null) return nodes.find(line => line.place === place);
  return (
    (hasFailed ? nodes.findLast(line => line.node.error) : undefined) ??
    nodes.findLast(line => line.node.is_responder && !line.hasChildren) ??
    nodes.findLast(line => line.depth === 1)
  );
}

/** When a node or a workflow began and ended, in milliseconds of the run; `now` for what is not over. */
export function spanOf(line: Line, now: number): [number, number] {
  if (line.kind === 'node') return nodeSpan(line.node, now);
  const spans = line.workflow.nodes.map(node => nodeSpan(node, now));
  return [Math.min(now, ...spans.map(([from]) => from)), Math.max(0, ...spans.map(([, to]) => to))];
}

function nodeSpan(node: RunNode, now: number): [number, number] {
  const end = node.duration_ms === null ? Math.max(now, node.started_ms) : node.started_ms + node.duration_ms;
  return [node.started_ms, end];
}

/** How long the run took so far: what it says itself, or the end of its last node. */
export function lengthOf(run: RunWhole, lines: readonly Line[]): number {
  const begun = lines.flatMap(line => (line.kind === 'node' ? [nodeSpan(line.node, 0)[1]] : []));
  const soFar = run.status === 'running' ? Date.now() - Date.parse(run.started_at) : 0;
  return Math.max(run.duration_ms ?? Math.max(soFar, 0), run.answered_ms ?? 0, ...begun, 1);
}

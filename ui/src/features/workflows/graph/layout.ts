/**
 * Where the boxes of a graph are: steps from top to bottom, and right of each the workflows it may run. Steps are as
 * wide as there is room, so that their titles can be read.
 */
import type { Edge, Node } from '@xyflow/react';
import type { GraphCall, GraphNode, WorkflowGraph } from '@/shared/data/workflows';

export const STEP = { width: 280, most: 520, height: 84 }; // `width` is the least
export const CALL = { width: 208, height: 46 };
/** Room at the left for the lines of what is read. */
export const MARGIN = 64;
const GAP = 36;
const ASIDE = 96;
const BETWEEN_CALLS = 10;

export type StepBox = Node<{ step: GraphNode; isCurrent: boolean }, 'step'>;
export type CallBox = Node<{ call: GraphCall }, 'call'>;
export type Box = StepBox | CallBox;

export interface Layout {
  boxes: Box[];
  lines: Edge[];
}

/** Where a graph begins in its canvas, and how it is scaled. */
export interface Fit {
  x: number;
  y: number;
  zoom: number;
  /** How wide steps are. */
  width: number;
}

const EDGE = 24;
const CONTROLS = 28; // those of the canvas stand at its left edge
const LEAST_ZOOM = 0.6; // words can still be read
const MOST_ZOOM = 1.25;

/** Fills a canvas: a short graph stands in its middle, a long one begins at the top and goes on below. */
export function fitOf(graph: WorkflowGraph, room: { width: number; height: number }): Fit {
  const margin = graph.nodes.some(node => node.uses.some(use => use.source !== null)) ? MARGIN : CONTROLS;
  const aside = graph.nodes.some(node => node.calls.length) ? ASIDE + CALL.width : 0;
  const [inner, height] = [room.width - 2 * EDGE, heightOfAll(graph)];
  const byHeight = (room.height - 2 * EDGE) / height;
  const byWidth = inner / (margin + STEP.width + aside);
  const zoom = Math.max(LEAST_ZOOM, Math.min(byWidth, byHeight < 1 ? 1 : Math.min(byHeight, MOST_ZOOM)));
  const width = Math.min(STEP.most, Math.max(STEP.width, inner / zoom - margin - aside));
  const free = (all: number, used: number) => Math.max(EDGE, (all - used * zoom) / 2);
  const x = free(room.width, margin + width + aside) + margin * zoom;
  return { x, y: free(room.height, height), zoom, width };
}

function heightOfAll(graph: WorkflowGraph): number {
  const heights = graph.nodes.map(step => Math.max(STEP.height, heightOf(step.calls.length)));
  return heights.reduce((sum, height) => sum + height + GAP, -GAP);
}

/** `current` is the number of the step that is marked, 0 for none; steps are `width` wide. */
export function layoutOf(graph: WorkflowGraph, current: number, width: number = STEP.width): Layout {
  const boxes: Box[] = [];
  const lines: Edge[] = [];
  let y = 0;
  graph.nodes.forEach((step, at) => {
    const id = stepId(step.number);
    const calls = heightOf(step.calls.length);
    boxes.push({
      id,
      type: 'step',
      position: { x: 0, y },
      data: { step, isCurrent: step.number === current },
      width,
      height: STEP.height,
    });
    const top = y + (STEP.height - Math.min(calls, STEP.height)) / 2;
    step.calls.forEach((call, place) => {
      const callId = `${id}-call-${place}`;
      const position = { x: width + ASIDE, y: top + place * (CALL.height + BETWEEN_CALLS) };
      boxes.push({ id: callId, type: 'call', position, data: { call }, ...CALL });
      lines.push(callLine(id, callId));
    });
    const next = graph.nodes[at + 1];
    if (next) lines.push(flowLine(step, next));
    lines.push(...readLines(step, graph));
    y += Math.max(STEP.height, calls) + GAP;
  });
  return { boxes, lines };
}

const stepId = (number: number) => `step-${number}`;
const heightOf = (calls: number) => calls * (CALL.height + BETWEEN_CALLS) - BETWEEN_CALLS;

function flowLine(step: GraphNode, next: GraphNode): Edge {
  const leavesAnswer = step.role === 'answers' && next.role === 'behind';
  return {
    id: `flow-${step.number}`,
    source: stepId(step.number),
    sourceHandle: 'below',
    target: stepId(next.number),
    targetHandle: 'above',
    type: 'straight',
    className: 'flow',
    ...(leavesAnswer && { label: 'after the answer' }),
    markerEnd: 'arrow-flow',
  };
}

/** One line for each step whose output is read, on the left side; the farther away, the wider its bow. */
function readLines(step: GraphNode, graph: WorkflowGraph): Edge[] {
  const sources = new Set(step.uses.flatMap(use => use.source ?? []));
  return [...sources]
    .filter(number => number !== step.number && graph.nodes.some(node => node.number === number))
    .map(number => ({
      id: `read-${number}-${step.number}`,
      source: stepId(number),
      sourceHandle: 'left',
      target: stepId(step.number),
      targetHandle: 'left',
      type: 'smoothstep',
      className: 'read',
      pathOptions: { offset: 10 + 12 * Math.min(Math.abs(step.number - number), 8), borderRadius: 12 },
      markerEnd: 'arrow-read',
    }));
}

function callLine(source: string, target: string): Edge {
  return {
    id: `line-${target}`,
    source,
    sourceHandle: 'right',
    target,
    targetHandle: 'called',
    type: 'smoothstep',
    className: 'call',
  };
}

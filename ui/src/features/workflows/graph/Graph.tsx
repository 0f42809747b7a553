import '@xyflow/react/dist/base.css';
import { useElementSize } from '@mantine/hooks';
import { Background, Controls, ReactFlow, type ReactFlowInstance } from '@xyflow/react';
import { useEffect, useMemo, useState } from 'react';
import type { WorkflowGraph } from '@/shared/data/workflows';
import { CallNode, GraphContext, StepNode } from './boxes';
import classes from './Graph.module.css';
import { type Box, fitOf, layoutOf } from './layout';

interface GraphProps {
  graph: WorkflowGraph;
  /** Number of the step that is marked, 0 for none. */
  current: number;
  user: string;
  onPick: (at: string) => void;
}

const nodeTypes = { step: StepNode, call: CallNode };
const MOST_DRAWN_AT_ONCE = 80;

/** A workflow drawn: steps from top to bottom, what they run at the right, whose output they read at the left. */
export default function Graph({ graph, current, user, onPick }: GraphProps) {
  const { ref, width, height } = useElementSize<HTMLDivElement>();
  const fit = useMemo(() => fitOf(graph, { width, height }), [graph, width, height]);
  const { boxes, lines } = useMemo(() => layoutOf(graph, current, fit.width), [graph, current, fit.width]);
  const shared = useMemo(() => ({ user, onPick }), [user, onPick]);
  const [flow, setFlow] = useState<ReactFlowInstance<Box>>();
  useEffect(() => {
    if (width > 0) void flow?.setViewport(fit);
  }, [flow, fit, width]);
  return (
    <GraphContext value={shared}>
      <svg width={0} height={0} className={classes.markers} aria-hidden>
        <defs>
          {['flow', 'read'].map(kind => (
            <marker
              key={kind}
              id={`arrow-${kind}`}
              className={classes[kind]}
              viewBox="0 0 10 10"
              refX={8}
              refY={5}
              markerWidth={7}
              markerHeight={7}
              orient="auto-start-reverse"
            >
              <path d="M0 0 L10 5 L0 10 z" />
            </marker>
          ))}
        </defs>
      </svg>
      <ReactFlow
        ref={ref}
        className={classes.flow}
        nodes={boxes}
        edges={lines}
        nodeTypes={nodeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        onlyRenderVisibleElements={boxes.length > MOST_DRAWN_AT_ONCE}
        panOnScroll
        zoomOnDoubleClick={false}
        minZoom={0.2}
        maxZoom={1.5}
        onInit={setFlow}
        proOptions={{ hideAttribution: true }}
        aria-label={`Graph of ${graph.path}; the same in words is under Steps`}
      >
        <Background gap={20} size={1} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </GraphContext>
  );
}

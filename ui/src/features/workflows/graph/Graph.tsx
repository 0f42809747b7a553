import '@xyflow/react/dist/base.css';
import { Background, Controls, ReactFlow } from '@xyflow/react';
import { useMemo, useRef } from 'react';
import type { WorkflowGraph } from '@/shared/data/workflows';
import { CallNode, GraphContext, StepNode } from './boxes';
import classes from './Graph.module.css';
import { layoutOf, MARGIN, widthOf } from './layout';

interface GraphProps {
  graph: WorkflowGraph;
  /** Number of the step that is marked, 0 for none. */
  current: number;
  user: string;
  onPick: (at: string) => void;
}

const nodeTypes = { step: StepNode, call: CallNode };
const MOST_DRAWN_AT_ONCE = 80;
const LEAST_ZOOM = 0.6; // at the beginning: words can still be read
const EDGE = 24;

/** A workflow drawn: steps from top to bottom, what they run at the right, whose output they read at the left. */
export default function Graph({ graph, current, user, onPick }: GraphProps) {
  const { boxes, lines } = useMemo(() => layoutOf(graph, current), [graph, current]);
  const shared = useMemo(() => ({ user, onPick }), [user, onPick]);
  const box = useRef<HTMLDivElement>(null);
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
        ref={box}
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
        onInit={flow => {
          const room = (box.current?.clientWidth ?? 0) - MARGIN - EDGE;
          const zoom = Math.min(1, Math.max(LEAST_ZOOM, room / widthOf(graph)));
          void flow.setViewport({ x: MARGIN, y: EDGE, zoom });
        }}
        proOptions={{ hideAttribution: true }}
        aria-label={`Graph of ${graph.path}; the same in words is under Steps`}
      >
        <Background gap={20} size={1} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </GraphContext>
  );
}

import { SegmentedControl } from '@mantine/core';
import { TbHierarchy2 } from 'react-icons/tb';
import { lazy, Suspense, useState } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useWorkflowGraph, type WorkflowGraph } from '@/shared/data/workflows';
import { isWithin, stepsOf } from '../jsonSteps';
import classes from './GraphPane.module.css';
import { Steps } from './Steps';

const Graph = lazy(() => import('./Graph'));

interface GraphPaneProps {
  path: string;
  user: string;
  /** The place that is marked. */
  at: string;
  /** Words first: for small screens. */
  asSteps: boolean;
  onPick: (at: string) => void;
}

/** One workflow, drawn or in words. */
export function GraphPane({ path, user, at, asSteps, onPick }: GraphPaneProps) {
  const [chosen, choose] = useState<string>();
  const form = chosen ?? (asSteps ? 'steps' : 'graph');
  const { data: graph, error, refetch } = useWorkflowGraph(path, user);
  return (
    <section className={classes.pane} aria-label="The workflow">
      <div className={classes.bar}>
        <SegmentedControl
          size="xs"
          aria-label="Show the workflow as"
          data={[
            { value: 'graph', label: 'Graph' },
            { value: 'steps', label: 'Steps' },
          ]}
          value={form}
          onChange={choose}
        />
        {graph && <span className={classes.count}>{toldOf(graph)}</span>}
      </div>
      <div className={classes.body}>
        {error ? (
          <ErrorState error={error} title="This workflow cannot be drawn" onRetry={() => void refetch()} />
        ) : !graph ? (
          <LoadingState label="Loading the workflow" />
        ) : graph.nodes.length === 0 ? (
          <EmptyState Icon={TbHierarchy2} title="No steps" hint="This workflow has no nodes yet." />
        ) : form === 'steps' ? (
          <Steps graph={graph} current={currentOf(graph, at)} user={user} onPick={onPick} />
        ) : (
          <Suspense fallback={<LoadingState label="Loading the graph" />}>
            <Graph key={path} graph={graph} current={currentOf(graph, at)} user={user} onPick={onPick} />
          </Suspense>
        )}
      </div>
    </section>
  );
}

/** The number of the step that a place is in, 0 for none. */
function currentOf(graph: WorkflowGraph, at: string): number {
  const place = stepsOf(at);
  if (!place.length) return 0;
  return graph.nodes.find(node => isWithin(place, stepsOf(node.at)))?.number ?? 0;
}

function toldOf(graph: WorkflowGraph): string {
  const steps = `${graph.nodes.length} ${graph.nodes.length === 1 ? 'step' : 'steps'}`;
  return graph.user ? `${steps}, names as ${graph.user} reads them` : steps;
}

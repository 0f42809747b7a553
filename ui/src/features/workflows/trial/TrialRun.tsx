import { Anchor, Text } from '@mantine/core';
import { Link } from 'react-router';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type RunNode, type RunWhole, useRun } from '@/shared/data/runs/run';
import classes from './TrialPanel.module.css';

/** What a run that is kept did, and the way to all of it. */
export function TrialRun({ runId }: { runId: string }) {
  const { data: run, error, refetch } = useRun(runId);
  if (error) return <ErrorState error={error} title="The run could not be loaded" onRetry={() => void refetch()} />;
  if (!run) return <LoadingState label="Loading the run" />;
  return <RunLines run={run} more={`/runs?id=${encodeURIComponent(runId)}`} />;
}

/** What a run did, in a line for each node; `more` is where all of it is shown. */
export function RunLines({ run, more }: { run: RunWhole; more?: string }) {
  const rows = run.workflows.flatMap(workflow => linesOf(workflow.nodes, workflow.name, 0));
  return (
    <div>
      <Text size="sm" mb={4}>
        {run.status}
        {run.duration_ms !== null && `, ${shownMs(run.duration_ms)}`}
        {more && (
          <>
            {' · '}
            <Anchor component={Link} to={more}>
              Open run
            </Anchor>
          </>
        )}
      </Text>
      <div className={classes.scroll} tabIndex={0} role="region" aria-label="Nodes of the run">
        <table className={classes.nodes}>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Type</th>
              <th scope="col">Model</th>
              <th scope="col">Tokens</th>
              <th scope="col">Took</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, node, depth }) => (
              <tr key={key}>
                <td style={{ paddingInlineStart: `${depth * 0.75 + 0.5}rem` }}>
                  {node.number}. <Words>{node.title}</Words>
                  {node.notes.map(note => (
                    <Text key={note} size="xs" c="dimmed" component="p">
                      <Words>{note}</Words>
                    </Text>
                  ))}
                  {node.error && (
                    <Text size="xs" c="var(--mantine-color-error)" component="p">
                      <Words>{node.error}</Words>
                    </Text>
                  )}
                </td>
                <td>{node.type}</td>
                <td>{node.model && <Words>{node.model}</Words>}</td>
                <td>
                  {node.input_tokens || node.output_tokens ? `${node.input_tokens} → ${node.output_tokens}` : ''}
                </td>
                <td>{node.duration_ms !== null && shownMs(node.duration_ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface Line {
  key: string;
  node: RunNode;
  depth: number;
}

/** Nodes in the order they ran, those of sub-workflows below the node that ran them. */
function linesOf(nodes: readonly RunNode[], prefix: string, depth: number): Line[] {
  return nodes.flatMap((node, at) => {
    const key = `${prefix}/${at}`;
    const inner = node.children.flatMap((child, place) => linesOf(child.nodes, `${key}/${place}`, depth + 1));
    return [{ key, node, depth }, ...inner];
  });
}

function shownMs(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

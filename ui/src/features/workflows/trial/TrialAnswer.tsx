import { Alert, Text } from '@mantine/core';
import { useDeferredValue } from 'react';
import { Markdown } from '@/shared/components/markdown/Markdown';
import { Words } from '@/shared/components/Words';
import { RunLines, TrialRun } from './TrialRun';
import classes from './TrialPanel.module.css';
import type { Answer } from './useTrial';

/** What a workflow answers, as it comes, and what its nodes do for it. */
export function TrialAnswer({ answer: { text, state, error, runId, run } }: { answer: Answer }) {
  const shown = useDeferredValue(text); // a long answer takes longer to lay out than its next piece to come
  const isRunning = state === 'running';
  return (
    <div className={classes.answer}>
      <div aria-live="polite" aria-busy={isRunning}>
        {shown ? <Markdown>{shown}</Markdown> : isRunning && <Text c="dimmed">Running…</Text>}
      </div>
      {state === 'failed' && (
        <Alert color="red" variant="light" title="The run failed" role="alert">
          <Words limit={2_000}>{error}</Words>
        </Alert>
      )}
      {state === 'stopped' && <Text c="dimmed">Stopped.</Text>}
      {run ? <RunLines run={run} /> : runId && <TrialRun runId={runId} />}
    </div>
  );
}

import { Anchor, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { ApiError } from '@/shared/api/errors';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useRecalls } from '@/shared/data/memories/details';
import type { Scope } from '@/shared/data/scope';
import classes from './detail.module.css';

const MOST_SHOWN = 200; // characters of a question

/** The answers that a memory was given to, as far as their runs are kept. */
export function Recalls({ owner, id }: { owner: Scope; id: string }) {
  const recalls = useRecalls(owner, id);
  if (recalls.error instanceof ApiError && recalls.error.status === 404) return null; // deleted, or no run is kept
  return (
    <section aria-label="Recalled">
      <Title order={3} size="h6" mb="xs">
        Recalled
      </Title>
      {recalls.isPending && <LoadingState label="Looking through runs" />}
      {recalls.isError && <ErrorState error={recalls.error} onRetry={() => void recalls.refetch()} />}
      {recalls.data?.results.length === 0 && (
        <Text size="sm" c="dimmed">
          {recalls.data.looked_at === 0
            ? 'No run is kept yet.'
            : `In none of the last ${recalls.data.looked_at.toLocaleString()} runs.`}
        </Text>
      )}
      <ol className={classes.history}>
        {recalls.data?.results.map(run => (
          <li key={run.run_id}>
            <div className={classes.eventHead}>
              <Anchor size="sm" component={Link} to={`/runs?id=${encodeURIComponent(run.run_id)}`}>
                <Words limit={MOST_SHOWN}>{run.question || 'A run whose question is not kept'}</Words>
              </Anchor>
              <Time value={run.at} ago />
            </div>
            {run.conversation && (
              <Anchor size="xs" component={Link} to={`/conversations?id=${encodeURIComponent(run.conversation)}`}>
                Open conversation
              </Anchor>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

import { Button, Group, Stack, Text } from '@mantine/core';
import { notifyFailure } from '@/shared/components/notify';
import { ErrorState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useFailedJobs, useRetryJob } from '@/shared/data/status';

const JOBS: Record<string, string> = { remember: 'Learning from chats', add: 'Adding memories' };

/** What a kind of jobs is called here. */
export const jobName = (kind: string) => JOBS[kind] ?? kind;

/** The jobs that were given up in the last week, each with its error, to try it again. */
export function FailedJobs() {
  const failed = useFailedJobs();
  const retry = useRetryJob();
  if (failed.isError) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (!failed.data?.length) return null;
  return (
    <Stack gap="xs" role="list" aria-label="Given up">
      {failed.data.map(job => (
        <Group key={job.id} role="listitem" justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
          <div>
            <Text size="sm">
              {jobName(job.kind)}, given up <Time value={job.failed_at} ago /> after{' '}
              {job.attempts === 1 ? '1 try' : `${job.attempts} tries`}
            </Text>
            {job.error && (
              <Text size="xs" c="dimmed">
                <Words limit={500}>{job.error}</Words>
              </Text>
            )}
          </div>
          <Button
            size="compact-xs"
            variant="default"
            flex="none"
            loading={retry.isPending && retry.variables === job.id}
            onClick={() => retry.mutate(job.id, { onError: error => notifyFailure('Could not try again', error) })}
          >
            Retry
          </Button>
        </Group>
      ))}
    </Stack>
  );
}

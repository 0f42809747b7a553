import { Group, Progress, Stack, Table, Text } from '@mantine/core';
import { Time } from '@/shared/components/Time';
import type { Status } from '@/shared/data/status';
import { FailedJobs, jobName } from './FailedJobs';
import { percent, plural } from './format';
import { Section } from '@/shared/components/Section';

type Work = Status['work'];

/** What goes on behind the requests, with how far it is. */
export function BackgroundWork({ work }: { work: Work }) {
  return (
    <Section title="Background work">
      <Stack gap="md">
        <Vectors title="Vectors of memories" progress={work.memory_vectors} />
        <Vectors
          title="Vectors of messages"
          progress={work.message_vectors}
          waiting="Made when the user's conversations are next opened."
        />
        <Jobs jobs={work.jobs} />
        {work.jobs.some(job => job.failed > 0) && <FailedJobs />}
        <Pruning pruning={work.pruning} />
      </Stack>
    </Section>
  );
}

interface VectorsProps {
  title: string;
  progress: Work['memory_vectors'];
  waiting?: string;
}

function Vectors({ title, progress, waiting }: VectorsProps) {
  if (progress === null) return null;
  const { done, of } = progress;
  const left = of - done;
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm">{title}</Text>
        <Text size="sm" c="dimmed">
          {of === 0 ? 'nothing to do yet' : left === 0 ? `all ${of.toLocaleString()} made` : `${done} of ${of} made`}
        </Text>
      </Group>
      <Progress.Root size="md">
        <Progress.Section
          value={of === 0 ? 0 : percent(done, of)}
          aria-label={title}
          aria-valuetext={`${done} of ${of}`}
          striped={left > 0}
        />
      </Progress.Root>
      {left > 0 && waiting && (
        <Text size="xs" c="dimmed" mt={4}>
          {waiting}
        </Text>
      )}
    </div>
  );
}

function Jobs({ jobs }: { jobs: Work['jobs'] }) {
  if (jobs.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No jobs are waiting, and none was given up in the last week.
      </Text>
    );
  return (
    <Table verticalSpacing={6} horizontalSpacing={6} aria-label="Jobs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Job</Table.Th>
          <Table.Th ta="right">Waiting</Table.Th>
          <Table.Th ta="right">Running</Table.Th>
          <Table.Th ta="right">Given up</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {jobs.map(job => (
          <Table.Tr key={job.kind}>
            <Table.Th scope="row" fw={500}>
              {jobName(job.kind)}
            </Table.Th>
            <Table.Td ta="right">{job.waiting.toLocaleString()}</Table.Td>
            <Table.Td ta="right">{job.running.toLocaleString()}</Table.Td>
            <Table.Td ta="right">{job.failed.toLocaleString()}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Pruning({ pruning }: { pruning: Work['pruning'] }) {
  if (pruning.days === null)
    return (
      <Text size="sm" c="dimmed">
        Old conversations are kept: memory.auto_prune_days is not set.
      </Text>
    );
  return (
    <Text size="sm">
      Conversations unused for {plural(pruning.days, 'day')} are deleted once a day
      {pruning.last_at && (
        <>
          , last <Time value={pruning.last_at} ago />
        </>
      )}
      .
    </Text>
  );
}

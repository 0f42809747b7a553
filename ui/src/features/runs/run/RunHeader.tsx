import { Alert, Button, Code, Group, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { TbAlertCircle, TbMessage, TbMessages } from 'react-icons/tb';
import { Link } from 'react-router';
import { CopyButton } from '@/shared/components/CopyButton';
import { Time } from '@/shared/components/Time';
import { Pieces, Words } from '@/shared/components/Words';
import type { RunWhole } from '@/shared/data/runs/run';
import { span, tokens } from '../figures';
import { StatusMark } from '../StatusMark';
import { CommandButton } from './CommandButton';
import classes from './RunHeader.module.css';
import { totalsOf } from './totals';

const SKIPPED: Record<NonNullable<RunWhole['memory_skipped']>, string> = {
  task: 'left out of a side task',
  temporary: 'temporary chats are not remembered',
  raw: 'left out of a raw prompt',
  off: 'not switched on',
  workflow: 'not in this workflow',
};

/** What the run was, in figures, and where it leads. */
export function RunHeader({ run }: { run: RunWhole }) {
  const totals = totalsOf(run);
  const conversation = run.scope.conversation;
  const workflow = run.workflows.at(-1)?.name ?? '';
  const facts: [string, ReactNode][] = [
    ['Started', <Time key="began" value={run.started_at} />],
    ['First token', run.first_token_ms === null ? '–' : span(run.first_token_ms)],
    ['Answered', run.answered_ms === null ? '–' : span(run.answered_ms)],
    ['Done after', run.status === 'running' ? 'running' : span(run.duration_ms)],
    ['Nodes', totals.nodes.toLocaleString()],
    ['Memories read', totals.memories.toLocaleString()],
    ['Tokens', tokens(totals) || '–'],
    ['Asked', <Words key="model">{`${run.model || 'no model given'}${run.stream ? ', streamed' : ''}`}</Words>],
    ['User', <Words key="user">{run.user ? `${run.user} (${run.scope.user})` : run.scope.user}</Words>],
    ['Project', <Words key="project">{run.scope.project}</Words>],
  ];
  if (run.question && workflow) facts.unshift(['Workflow', <Words key="workflow">{workflow}</Words>]);
  if (run.category !== null) facts.push(['Category', <Words key="category">{run.category || 'no match'}</Words>]);
  if (run.memory_skipped !== null) facts.push(['Memory', SKIPPED[run.memory_skipped]]);
  return (
    <Stack gap="xs" mb="sm" component="header">
      <Group justify="space-between" gap="xs">
        <Group gap="sm" className={classes.name}>
          <Title order={2} size="h4" className={classes.title}>
            <bdi>
              <Pieces text={run.question || workflow || 'Run'} />
            </bdi>
          </Title>
          <StatusMark status={run.status} words />
        </Group>
        <Group gap="xs">
          {!run.is_temporary && <CommandButton run={run.id} node={null} label="Request as curl" />}
          {conversation && (
            <>
              <Button
                component={Link}
                to={`/conversations?id=${encodeURIComponent(conversation)}`}
                variant="default"
                size="compact-sm"
                leftSection={<TbMessages aria-hidden />}
              >
                Conversation
              </Button>
              <Button
                component={Link}
                to={`/?conversation=${encodeURIComponent(conversation)}`}
                variant="default"
                size="compact-sm"
                leftSection={<TbMessage aria-hidden />}
              >
                Open in chat
              </Button>
            </>
          )}
        </Group>
      </Group>
      <Group gap={4}>
        <Code className={classes.id}>{run.id}</Code>
        <CopyButton text={run.id} label="Copy run ID" />
      </Group>
      {run.error && (
        <Alert color="red" variant="light" icon={<TbAlertCircle aria-hidden />} title="The run failed">
          <Words>{run.error}</Words>
        </Alert>
      )}
      <dl className={classes.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Stack>
  );
}

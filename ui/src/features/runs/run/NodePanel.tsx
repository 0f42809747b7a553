import { Alert, Group, List, Tabs, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { TbAlertCircle, TbMessageReply } from 'react-icons/tb';
import { CopyButton } from '@/shared/components/CopyButton';
import { Pieces, Words } from '@/shared/components/Words';
import type { RunNode, RunWhole } from '@/shared/data/runs/run';
import { span, tokens } from '../figures';
import { CommandButton } from './CommandButton';
import type { NodeLine } from './lines';
import { NodeMemory } from './NodeMemory';
import { NodeOutput } from './NodeOutput';
import { NodePrompt } from './NodePrompt';
import classes from './NodePanel.module.css';
import { promptText } from './promptText';

/** All that is known of one node: whom it asked what, what came back, how long it took, and what memory did. */
export function NodePanel({ run, line }: { run: RunWhole; line: NodeLine }) {
  const { node, place } = line;
  const remembers = node.memories.length + node.standing.length + node.written.length;
  return (
    <section aria-label={`Node ${node.title}`} className={classes.panel}>
      <Group justify="space-between" gap="xs" mb="xs">
        <Group gap="xs" className={classes.name}>
          <Title order={3} size="h5">
            <bdi>
              <Pieces text={`${node.number}  ${node.title}`} />
            </bdi>
          </Title>
          {node.is_responder && (
            <span className={classes.responder}>
              <TbMessageReply aria-hidden /> answered the client
            </span>
          )}
        </Group>
        <Group gap="xs">
          {node.call && <CommandButton run={run.id} node={place} label="Call as curl" />}
          {node.prompt !== null && <CopyButton text={promptText(node.prompt)} label="Copy prompt" />}
        </Group>
      </Group>
      <Facts node={node} />
      {node.error && (
        <Alert color="red" variant="light" icon={<TbAlertCircle aria-hidden />} title="This node failed" my="xs">
          <Words>{node.error}</Words>
        </Alert>
      )}
      {node.notes.length > 0 && (
        <List size="sm" my="xs" aria-label="Notes">
          {node.notes.map((note, at) => (
            <List.Item key={at}>
              <Words>{note}</Words>
            </List.Item>
          ))}
        </List>
      )}
      <Tabs defaultValue={firstTab(node)} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="prompt">Prompt</Tabs.Tab>
          <Tabs.Tab value="output">Output</Tabs.Tab>
          <Tabs.Tab value="memory">{remembers ? `Memory (${remembers})` : 'Memory'}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="prompt" pt="sm">
          <NodePrompt node={node} />
        </Tabs.Panel>
        <Tabs.Panel value="output" pt="sm">
          <NodeOutput node={node} />
        </Tabs.Panel>
        <Tabs.Panel value="memory" pt="sm">
          <NodeMemory run={run} line={line} />
        </Tabs.Panel>
      </Tabs>
    </section>
  );
}

/** What there is most to see of. */
function firstTab(node: RunNode): string {
  if (node.prompt !== null) return 'prompt';
  return node.memories.length + node.standing.length + node.written.length > 0 ? 'memory' : 'output';
}

function Facts({ node }: { node: RunNode }) {
  const facts: [string, ReactNode][] = [
    ['Type', node.type],
    ['Endpoint', node.endpoint && <Words>{node.endpoint}</Words>],
    ['Model', node.model && <Words>{node.model}</Words>],
    ['Preset', node.preset && <Words>{node.preset}</Words>],
    ['Started', span(node.started_ms)],
    ['First token after', node.first_token_ms === null ? null : span(node.first_token_ms - node.started_ms)],
    ['Took', span(node.duration_ms)],
    ['Tokens', tokens(node)],
    ['URL', node.call && <Words>{node.call.url}</Words>],
  ];
  return (
    <dl className={classes.facts}>
      {facts
        .filter(([, value]) => Boolean(value))
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

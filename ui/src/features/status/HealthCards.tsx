import { SimpleGrid, Text } from '@mantine/core';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { Health, Status } from '@/shared/data/status';
import { bytes } from '@/shared/text/bytes';
import { Facts } from './Facts';
import { lasting } from './format';
import { Section } from '@/shared/components/Section';
import { StateBadge } from './StateBadge';

const PROVIDERS: Record<string, string> = {
  offline: 'built in, quotes memories',
  ollama: 'Ollama',
  openai: 'OpenAI protocol',
  'openai-chat': 'OpenAI protocol, chat',
  'openai-responses': 'OpenAI protocol, responses',
  builtin: 'built in',
  'sentence-transformers': 'in this process',
};

/** The server, its models and its storage: is each well, and what it is. */
export function HealthCards({ status }: { status: Status }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, xl: 4 }} spacing="md">
      <ModelCard model={status.model} />
      <EmbedderCard embedder={status.embedder} />
      <StorageCard status={status} />
      <Section title="Server" aside={<StateBadge state="ok" />}>
        <Facts
          facts={[
            ['Version', status.version],
            ['Running for', lasting(status.up_s)],
            ['Started', <Time key="time" value={status.started_at} />],
          ]}
        />
      </Section>
    </SimpleGrid>
  );
}

function ModelCard({ model }: { model: Status['model'] }) {
  const { connected } = model;
  const lastFailed = model.failed_at !== null && model.failed_at > (model.answered_at ?? '');
  const state: Health | null = connected.state === 'ok' && lastFailed ? 'warn' : connected.state;
  return (
    <Section title="Model" aside={<StateBadge state={state} />}>
      <Facts
        facts={[
          ['Name', <Words key="name">{model.name}</Words>],
          ['Provider', PROVIDERS[model.provider] ?? model.provider],
          ...fact('Address', model.url),
          ['Last answer', model.answered_at ? <Time key="time" value={model.answered_at} ago /> : 'none yet'],
          ...(model.failed_at
            ? [['Last failure', <Time key="time" value={model.failed_at} ago />] as [string, React.ReactNode]]
            : []),
        ]}
      />
      {model.error && (
        <Text size="sm" mt="xs" c="dimmed">
          <Words limit={300}>{model.error}</Words>
        </Text>
      )}
      <Checked connected={connected} />
    </Section>
  );
}

function EmbedderCard({ embedder }: { embedder: Status['embedder'] }) {
  return (
    <Section title="Embedding model" aside={<StateBadge state={embedder.connected.state} />}>
      <Facts
        facts={[
          ['Name', <Words key="name">{embedder.name}</Words>],
          ['Provider', PROVIDERS[embedder.provider] ?? embedder.provider],
          ...fact('Address', embedder.url),
          ['Dimensions', embedder.dimension ?? 'known after its first answer'],
        ]}
      />
      <Checked connected={embedder.connected} />
    </Section>
  );
}

function StorageCard({ status }: { status: Status }) {
  const { room, storage_problem } = status;
  const remarks = status.remarks.filter(remark => remark.about === 'storage');
  const state: Health = remarks.some(remark => remark.state === 'fail') ? 'fail' : remarks.length ? 'warn' : 'ok';
  return (
    <Section title="Storage" aside={<StateBadge state={state} />}>
      <Facts
        facts={[
          ['Stored in', room.backend === 'file' ? 'project files' : 'SQLite'],
          ['Folder', <Words key="folder">{room.data_dir}</Words>],
          ['Writable', room.writable && !storage_problem ? 'yes' : 'no'],
          ['Free disk space', room.free_bytes === null ? 'unknown' : bytes(room.free_bytes)],
        ]}
      />
    </Section>
  );
}

function Checked({ connected }: { connected: Status['model']['connected'] }) {
  return (
    connected.checked_at && (
      <Text size="xs" c="dimmed" mt="xs">
        Checked <Time value={connected.checked_at} ago />
      </Text>
    )
  );
}

function fact(name: string, value: string | null): [string, React.ReactNode][] {
  return value === null ? [] : [[name, <Words key={name}>{value}</Words>]];
}

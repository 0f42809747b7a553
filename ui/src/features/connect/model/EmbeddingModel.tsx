import { Code, Stack, Text, Title } from '@mantine/core';
import { Words } from '@/shared/components/Words';
import { type Status, useStatus } from '@/shared/data/status';

/** The embedding model, which is changed in the settings, and what a change of it costs. */
export function EmbeddingModel() {
  const { data } = useStatus();
  if (!data) return null;
  return (
    <Stack gap="xs">
      <Title order={2} size="h5">
        Embedding model
      </Title>
      <Text size="sm">
        <Words limit={200}>{data.embedder.name}</Words>
        {data.embedder.url !== null && (
          <>
            {' '}
            at <Words limit={200}>{data.embedder.url}</Words>
          </>
        )}{' '}
        makes the vectors for search by meaning. It is changed in the settings: <Code>embedding.provider</Code> and{' '}
        <Code>embedding.model</Code> in <Code>mnemoir.yaml</Code>, in force when Mnemoir is started again.
      </Text>
      <Text size="sm" c="dimmed">
        {cost(data.counts)} That goes on in the background; a text is found by its words until it has its new vector.
      </Text>
    </Stack>
  );
}

function cost({ memories, embeddable }: Status['counts']): string {
  if (memories === null) return 'A change embeds all memories and messages anew.';
  const messages = embeddable === null ? '' : ` and ${counted(embeddable, 'message', 'messages')}`;
  return `A change embeds ${counted(memories, 'memory', 'memories')}${messages} anew.`;
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

import { Code, SimpleGrid, Stack, Text } from '@mantine/core';
import { Section } from '@/shared/components/Section';
import { CodeBlock } from '@/shared/components/CodeBlock';
import { AppsWithoutKey } from '../AppsWithoutKey';

const COMMAND = 'mnemoir keys create --role admin --label "Admin"';

/** Of a server that lets everybody in who reaches it: how that ends, and what needs a key then. */
export function NoKeyNeeded() {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Section title="Nobody needs a key now">
        <Stack gap="xs">
          <Text size="sm">
            Whoever reaches this server may read and change everything. Make the first key in a terminal on the
            machine of the server. From then on, every request needs a key; this page asks for it, and then makes all
            others.
          </Text>
          <CodeBlock language="sh" text={COMMAND} isWrapped />
          <Text size="sm" c="dimmed">
            If the server was started with <Code>--config</Code> or <Code>--data-dir</Code>, add the same to the
            command. <Code>mnemoir keys disable</Code> takes it back on a server that only this machine reaches.
          </Text>
        </Stack>
      </Section>
      <AppsWithoutKey />
    </SimpleGrid>
  );
}

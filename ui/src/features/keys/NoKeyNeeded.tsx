import { Anchor, Code, List, Stack, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { CodeBlock } from '@/shared/components/CodeBlock';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { CLIENT_NAMES, type ClientKind, useClients } from '@/shared/data/status';

const COMMAND = 'mnemoir keys create --role admin --label "Admin"';

/** Where the key goes in each kind of client, and the set-up on the page Connect that says more. */
const HINTS: Record<ClientKind, { hint: string; setup?: string }> = {
  'open-webui': { hint: 'Admin settings, Connections, Key', setup: 'open-webui' },
  sillytavern: { hint: 'API Connections, Custom API Key', setup: 'sillytavern' },
  'openai-python': { hint: 'api_key of the client, or the variable OPENAI_API_KEY', setup: 'python' },
  'openai-node': { hint: 'apiKey of the client, or the variable OPENAI_API_KEY', setup: 'javascript' },
  'ollama-python': {
    hint: 'the header Authorization: Bearer <key>, in headers of the client',
    setup: 'python-ollama',
  },
  'ollama-js': { hint: 'the header Authorization: Bearer <key>, in headers of the client', setup: 'other' },
  curl: { hint: "-H 'Authorization: Bearer <key>'", setup: 'curl' },
  'node-fetch': { hint: 'its API key; it may be SillyTavern', setup: 'sillytavern' },
  mcp: { hint: 'the variable API_KEYS in its file of MCP servers', setup: 'mcp' },
  'mnemoir-ui': { hint: 'this page asks for it' },
  'mnemoir-chat': { hint: 'the variable MNEMOIR_API_KEY' },
  mnemoir: { hint: 'the key of its language model', setup: 'other' },
  other: { hint: 'its API key, or the header Authorization: Bearer <key>', setup: 'other' },
};

/** Of a server that lets everybody in who reaches it: how that ends, and what needs a key then. */
export function NoKeyNeeded() {
  return (
    <Stack gap="lg" maw="46rem">
      <Stack gap="xs">
        <Title order={2} size="h4">
          Nobody needs a key now
        </Title>
        <Text size="sm">
          Whoever reaches this server may read and change everything. Make the first key in a terminal on the machine
          of the server. From then on, every request needs a key; this page asks for it, and then makes all others.
        </Text>
        <CodeBlock language="sh" text={COMMAND} />
        <Text size="sm" c="dimmed">
          If the server was started with <Code>--config</Code> or <Code>--data-dir</Code>, add the same to the
          command. <Code>mnemoir keys disable</Code> takes it back on a server that only this machine reaches.
        </Text>
      </Stack>
      <Callers />
    </Stack>
  );
}

function Callers() {
  const clients = useClients();
  const seen = clients.data?.results ?? [];
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Apps that will need one
      </Title>
      {clients.isPending && <LoadingState label="Loading the calls" />}
      {clients.isError && <ErrorState error={clients.error} onRetry={() => void clients.refetch()} />}
      {clients.data && seen.length === 0 && (
        <Text size="sm" c="dimmed">
          No app has called since the server was started.
        </Text>
      )}
      {seen.length > 0 && (
        <>
          <Text size="sm">These have called since the server was started. Here is where each takes its key:</Text>
          <List size="sm" spacing={4}>
            {seen.map(({ kind }) => (
              <List.Item key={kind}>
                <Caller kind={kind} />
              </List.Item>
            ))}
          </List>
        </>
      )}
    </Stack>
  );
}

function Caller({ kind }: { kind: ClientKind }) {
  const { hint, setup } = HINTS[kind];
  const name = CLIENT_NAMES[kind];
  return (
    <>
      {setup ? (
        <Anchor component={Link} to={`/connect?client=${setup}`} inherit underline="always">
          {name}
        </Anchor>
      ) : (
        name
      )}
      : {hint}
    </>
  );
}

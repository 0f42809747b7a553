import { Anchor, Button, Code, List, Stack, Text, Title } from '@mantine/core';
import { Link } from 'react-router';
import { serverUrl } from '@/shared/api/client';
import { CodeBlock } from '@/shared/components/CodeBlock';
import { Time } from '@/shared/components/Time';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { useFirstCode, useKeylessClients } from '@/shared/data/signIn/auth';
import { CLIENT_NAMES, type ClientKind } from '@/shared/data/status';

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

/** Of a server that lets everybody in who reaches it: the two ways in which that ends, and what needs a key then. */
export function NoKeyNeeded() {
  return (
    <Stack gap="lg" maw="46rem">
      <Stack gap="xs">
        <Title order={2} size="h4">
          Nobody needs a key now
        </Title>
        <Text size="sm">
          Whoever reaches this server may read and change everything. From the first person or key on, every request
          needs a sign-in or a key.
        </Text>
      </Stack>
      <FirstPerson />
      <Stack gap="xs">
        <Title order={2} size="h4">
          Or begin with a key
        </Title>
        <Text size="sm">
          Make it in a terminal on the machine of the server. This page asks for it, and then makes all others.
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

/** People sign in with a name: the first one needs a code that is read off the terminal of the server. */
function FirstPerson() {
  const print = useFirstCode();
  return (
    <Stack gap="xs" align="start">
      <Title order={2} size="h4">
        Let people sign in
      </Title>
      <Text size="sm">
        You become the first admin, and then invite others by a link. Each person has memories of their own.
      </Text>
      {print.isSuccess ? (
        <>
          <Text size="sm" role="status">
            A code stands in the terminal of the server now. It counts for ten minutes.
          </Text>
          <Button component="a" href={`${serverUrl}/join`}>
            Enter the code
          </Button>
        </>
      ) : (
        <Button loading={print.isPending} onClick={() => print.mutate()}>
          Turn on sign-in
        </Button>
      )}
      {print.isError && <ErrorState error={print.error} title="No code was printed" />}
    </Stack>
  );
}

function Callers() {
  const clients = useKeylessClients();
  const seen = clients.data ?? [];
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Apps that will need a key
      </Title>
      {clients.isPending && <LoadingState label="Loading the calls" />}
      {clients.isError && <ErrorState error={clients.error} onRetry={() => void clients.refetch()} />}
      {clients.data && seen.length === 0 && (
        <Text size="sm" c="dimmed">
          No app has called in the last 7 days.
        </Text>
      )}
      {seen.length > 0 && (
        <>
          <Text size="sm">
            These have called in the last 7 days. From the first person or key on, each is asked for a key; make them
            on the tab Keys then. Here is where each takes it:
          </Text>
          <List size="sm" spacing={4}>
            {seen.map(({ name, last_seen_at: at }) => (
              <List.Item key={name}>
                <Caller kind={name in HINTS ? (name as ClientKind) : 'other'} />, last <Time value={at} ago />
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

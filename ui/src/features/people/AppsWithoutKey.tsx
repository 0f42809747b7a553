import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { Section } from '@/shared/components/Section';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { type KeylessClient, useKeylessClients } from '@/shared/data/keylessClients';
import { CLIENT_NAMES, type ClientKind } from '@/shared/data/status';

interface Hint {
  hint: string;
  setup?: string;
}

const AGENT: Hint = { hint: 'the header Authorization: Bearer <key>, in its MCP servers', setup: 'mcp' };

/** Where the key goes in each kind of client, and the set-up on the page Connect that says more. */
const HINTS: Record<ClientKind, Hint> = {
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
  mcp: { hint: 'the header Authorization: Bearer <key>, or the variable API_KEYS, in its MCP servers', setup: 'mcp' },
  'claude-code': { hint: "claude mcp add … --header 'Authorization: Bearer <key>'", setup: 'mcp' },
  claude: AGENT,
  codex: { hint: 'bearer_token_env_var in its config.toml', setup: 'mcp' },
  cursor: AGENT,
  'vs-code': AGENT,
  chatgpt: AGENT,
  n8n: { hint: 'Authentication: Bearer, of its MCP Client', setup: 'mcp' },
  librechat: AGENT,
  'mcp-inspector': AGENT,
  'mnemoir-ui': { hint: 'this page asks for it' },
  'mnemoir-chat': { hint: 'the variable MNEMOIR_API_KEY' },
  mnemoir: { hint: 'the key of its language model', setup: 'other' },
  other: { hint: 'its API key, or the header Authorization: Bearer <key>', setup: 'other' },
};

interface AppsWithoutKeyProps {
  /** What comes next, below the list. */
  hint?: string;
  /** Makes a key for the app of that name; not there before the first key or user. */
  onMake?: (name: string) => void;
}

/** The apps that called without a key within a week: they need one, and here is where each takes it. */
export function AppsWithoutKey({ hint, onMake }: AppsWithoutKeyProps) {
  const clients = useKeylessClients();
  if (onMake && !clients.data?.length) return null;
  return (
    <Section title={onMake ? 'Apps that need a key now' : 'Apps that will need a key'}>
      <Stack gap="xs">
        {clients.isPending && <LoadingState label="Loading the apps" />}
        {clients.isError && <ErrorState error={clients.error} onRetry={() => void clients.refetch()} />}
        {clients.data?.length === 0 && (
          <Text size="sm" c="dimmed">
            No app has called within the last 7 days.
          </Text>
        )}
        {clients.data?.map(each => (
          <App key={each.name} app={each} onMake={onMake} />
        ))}
        {hint && Boolean(clients.data?.length) && (
          <Text size="sm" c="dimmed">
            {hint}
          </Text>
        )}
      </Stack>
    </Section>
  );
}

interface AppProps {
  app: KeylessClient;
  onMake: AppsWithoutKeyProps['onMake'];
}

function App({ app, onMake }: AppProps) {
  const kind = app.name in HINTS ? (app.name as ClientKind) : 'other';
  const { hint, setup } = HINTS[kind];
  const name = CLIENT_NAMES[kind];
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm">
      <div>
        <Text size="sm" fw={500}>
          {setup ? (
            <Anchor component={Link} to={`/connect?client=${setup}`} inherit underline="always">
              {name}
            </Anchor>
          ) : (
            name
          )}
        </Text>
        <Text size="xs" c="dimmed">
          {app.requests.toLocaleString()} {app.requests === 1 ? 'call' : 'calls'}, the last{' '}
          <Time value={app.last_seen_at} ago />. Its key goes to: {hint}
        </Text>
      </div>
      {onMake && (
        <Button
          flex="none"
          size="compact-sm"
          variant="default"
          aria-label={`Make a key for ${name}`}
          onClick={() => onMake(name)}
        >
          Make a key
        </Button>
      )}
    </Group>
  );
}

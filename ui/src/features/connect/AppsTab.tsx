import { Code, Group, Stack, Switch, Tabs, Text } from '@mantine/core';
import { serverUrl } from '@/shared/api/client';
import { Section } from '@/shared/components/Section';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { useAbout } from '@/shared/data/about';
import { useMay } from '@/shared/data/access';
import { useModels } from '@/shared/data/models';
import { type ClientSeen, useClients } from '@/shared/data/status';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import { type Settings, useSettings } from '@/shared/settings/settings';
import { CallsTable } from './CallsTable';
import { ClientSetup } from './ClientSetup';
import classes from './ConnectPage.module.css';
import { type Setup, setups } from './setups';
import type { Place } from './snippets';

const [FIRST] = setups as [Setup, ...Setup[]];

/** How apps and programs are pointed at this server, and whether their calls arrive. */
export function AppsTab() {
  const { params, change } = useAddressParams();
  const clients = useClients();
  const settings = useSettings();
  const place = usePlace(settings, params.get('memory') !== 'off');
  const chosen = setups.find(setup => setup.id === params.get('client')) ?? FIRST;
  const set = (name: string, value: string | null) => change({ [name]: value }, { replace: true });
  const seen = clients.data?.results ?? [];
  const seesCalls = useMay().server;

  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-end" gap="sm">
        <Text size="sm" c="dimmed" maw="38rem">
          Mnemoir speaks the OpenAI and Ollama protocols: use it in any app as the model server. Everything below is
          filled in for this server, as user <Name>{settings.user}</Name> in project <Name>{settings.project}</Name>.
        </Text>
        <Switch
          label="With long-term memory"
          checked={place.memory}
          onChange={event => set('memory', event.currentTarget.checked ? null : 'off')}
        />
      </Group>
      <Tabs
        value={chosen.id}
        onChange={id => set('client', id)}
        keepMounted={false}
        classNames={{ list: `${classes.list ?? ''} sideways`, panel: classes.panel }}
      >
        <Tabs.List aria-label="Clients">
          {setups.map(setup => (
            <Tabs.Tab key={setup.id} value={setup.id} leftSection={<setup.Icon size={16} aria-hidden />}>
              {setup.name}
              {hasCalled(setup, seen) && (
                <span className={classes.dot} role="img" aria-label=", connected" title="Connected" />
              )}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {setups.map(setup => (
          <Tabs.Panel key={setup.id} value={setup.id}>
            <ClientSetup setup={setup} place={place} seen={seesCalls ? seen : null} />
          </Tabs.Panel>
        ))}
      </Tabs>
      {seesCalls && (
        <Section title="Calls">
          {clients.isPending && <LoadingState label="Loading calls" />}
          {clients.isError && <ErrorState error={clients.error} onRetry={() => void clients.refetch()} />}
          {clients.data && <CallsTable seen={seen} since={clients.data.since} />}
        </Section>
      )}
    </Stack>
  );
}

function Name({ children }: { children: string }) {
  return (
    <Code>
      <Words limit={80}>{children}</Words>
    </Code>
  );
}

const ANY_MODEL = 'mnemoir';

/** This server and this browser's user, as snippets name them; what the server would take anyway is left out. */
function usePlace(settings: Settings, memory: boolean): Place {
  const about = useAbout().data;
  const [model = ANY_MODEL] = useModels().data ?? [];
  return {
    url: serverUrl,
    needsKey: about?.needs_key ?? false,
    model: settings.model || model,
    user: settings.user === about?.user ? '' : settings.user,
    anyUser: settings.user,
    project: settings.project === about?.project ? '' : settings.project,
    memory,
  };
}

function hasCalled(setup: Setup, seen: ClientSeen[]): boolean {
  return seen.some(client => setup.kinds.includes(client.kind));
}

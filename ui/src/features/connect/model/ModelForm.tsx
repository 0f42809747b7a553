import { Button, Group, Radio, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { Section } from '@/shared/components/Section';
import { useState } from 'react';
import { Words } from '@/shared/components/Words';
import {
  type ModelServer,
  type ModelSetup,
  useOfferedModels,
  useOllamaFound,
  useSaveModel,
  useTestModel,
} from '@/shared/data/languageModel';
import {
  type Draft,
  draftOf,
  firstDraft,
  fixedKey,
  fixedOf,
  type Kind,
  kindNamed,
  kinds,
  lockOf,
  OLLAMA,
  urlSetting,
} from './kinds';
import { KeyInput } from './KeyInput';
import { ModelName } from './ModelName';
import classes from './ModelTab.module.css';
import { lasting, TestResult } from './TestResult';

/** Says where a model runs, tries it and saves it. */
export function ModelForm({ setup }: { setup: ModelSetup }) {
  const [draft, setDraft] = useState(() => firstDraft(setup));
  const offered = useOfferedModels();
  const test = useTestModel();
  const save = useSaveModel();
  const { data: later } = useOllamaFound();
  const fixed = fixedOf(setup);
  const provider = fixed.get('llm.provider');
  if (provider && !kinds.some(kind => kind.provider === provider.value)) return null;

  const change = (part: Partial<Draft>) => {
    setDraft(before => ({ ...before, ...part }));
    test.reset();
    save.reset();
  };
  const wanted = { ...serverOf(draft), model: draft.model.trim() };
  const isWhole = wanted.url !== '' && wanted.model !== '';
  const names = offered.data?.models ?? (draft.kind.id === OLLAMA ? later?.models : undefined) ?? [];
  const takeFirst = ({ models: [first] }: { models: readonly string[] }) => {
    if (first !== undefined && draft.model === '') change({ model: first });
  };
  return (
    <Section title={setup.in_use.url === null ? 'Connect a model' : 'Connect another model'}>
      <form
        onSubmit={event => {
          event.preventDefault();
          save.mutate(wanted, { onSuccess: () => change({ key: '' }) });
        }}
      >
        <Stack gap="md">
          <Kinds
            chosen={draft.kind}
            only={provider?.value ?? null}
            onChoose={kind => {
              change(draftOf(kind, setup));
              offered.reset();
            }}
          />
          <TextInput
            label="Address"
            value={draft.url}
            onChange={event => change({ url: event.currentTarget.value })}
            placeholder={draft.kind.provider === 'ollama' ? 'http://127.0.0.1:11434' : 'https://host/v1'}
            {...lockOf(fixed, urlSetting(draft.kind))}
          />
          {draft.kind.takesKey && (
            <KeyInput
              value={draft.key}
              onChange={key => change({ key })}
              url={draft.url}
              saved={setup.saved}
              setBy={fixedKey(fixed, draft.url)?.set_by}
            />
          )}
          <ModelName
            value={draft.model}
            onChange={model => change({ model })}
            names={names}
            offered={offered}
            onList={draft.url.trim() === '' ? null : () => offered.mutate(serverOf(draft), { onSuccess: takeFirst })}
            lock={lockOf(fixed, 'llm.model')}
          />
          <Group gap="xs">
            <Button
              variant="default"
              disabled={!isWhole}
              loading={test.isPending}
              onClick={() => test.mutate(wanted)}
            >
              Test
            </Button>
            <Button type="submit" disabled={!isWhole} loading={save.isPending}>
              Save
            </Button>
          </Group>
          <TestResult test={test}>
            {found => (
              <>
                <Words limit={200}>{found.model}</Words> answered in {lasting(found.latency_ms)}.
              </>
            )}
          </TestResult>
          {save.isError && (
            <Text size="sm" c="red" role="alert">
              {save.error.message}
            </Text>
          )}
          <Text size="sm" c="dimmed">
            Takes effect immediately. Answers in progress finish on the previous model.
          </Text>
        </Stack>
      </form>
    </Section>
  );
}

function serverOf({ kind, url, key }: Draft): ModelServer {
  const api_key = kind.takesKey && key.trim() ? { api_key: key.trim() } : {};
  return { provider: kind.provider, url: url.trim(), ...api_key };
}

interface KindsProps {
  chosen: Kind;
  /** The protocol that is set elsewhere, if one is. */
  only: string | null;
  onChoose: (kind: Kind) => void;
}

function Kinds({ chosen, only, onChoose }: KindsProps) {
  return (
    <Radio.Group
      label="Where does it run?"
      value={chosen.id}
      onChange={id => onChoose(kindNamed(id))}
      classNames={{ label: classes.question ?? '' }}
    >
      <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="xs">
        {kinds.map(kind => (
          <Radio.Card
            key={kind.id}
            value={kind.id}
            disabled={only !== null && kind.provider !== only}
            className={classes.kind ?? ''}
            aria-label={kind.name}
          >
            <Group gap="sm" wrap="nowrap" align="flex-start">
              <Radio.Indicator size="xs" mt={3} />
              <div>
                <Text size="sm" fw={600}>
                  {kind.name}
                </Text>
                <Text size="xs" c="dimmed">
                  {kind.about}
                </Text>
              </div>
            </Group>
          </Radio.Card>
        ))}
      </SimpleGrid>
    </Radio.Group>
  );
}

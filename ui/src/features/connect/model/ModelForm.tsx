import {
  Autocomplete,
  Button,
  type ComboboxParsedItem,
  Group,
  PasswordInput,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useState } from 'react';
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
  type Fixed,
  fixedKey,
  fixedOf,
  type Kind,
  kindNamed,
  kinds,
  OLLAMA,
  originOf,
  urlSetting,
} from './kinds';
import classes from './ModelTab.module.css';
import { TestResult } from './TestResult';

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
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        save.mutate(wanted, { onSuccess: () => change({ key: '' }) });
      }}
    >
      <Stack gap="md">
        <Title order={2} size="h5">
          {setup.in_use.url === null ? 'Connect a model' : 'Connect another model'}
        </Title>
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
        {draft.kind.takesKey && <KeyInput draft={draft} setup={setup} onChange={key => change({ key })} />}
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <Autocomplete
            label="Model"
            className={classes.model ?? ''}
            value={draft.model}
            data={[...names]}
            filter={({ options, search }) => (names.includes(search) ? options : containing(options, search))}
            onChange={model => change({ model })}
            {...lockOf(fixed, 'llm.model')}
          />
          <Button
            variant="default"
            loading={offered.isPending}
            disabled={wanted.url === ''}
            onClick={() => {
              offered.mutate(serverOf(draft), {
                onSuccess: ({ models: [first] }) => {
                  if (first !== undefined && draft.model === '') change({ model: first });
                },
              });
            }}
          >
            List models
          </Button>
        </Group>
        <Listed offered={offered} />
        <Group gap="xs">
          <Button variant="default" disabled={!isWhole} loading={test.isPending} onClick={() => test.mutate(wanted)}>
            Test
          </Button>
          <Button type="submit" disabled={!isWhole} loading={save.isPending}>
            Save
          </Button>
        </Group>
        <TestResult test={test} />
        {save.isError && (
          <Text size="sm" c="red" role="alert">
            {save.error.message}
          </Text>
        )}
        <Text size="sm" c="dimmed">
          What is saved is in force at once, also after a restart. A chat that is being answered ends on the model it
          began with.
        </Text>
      </Stack>
    </form>
  );
}

/** The options with these letters in them; with a whole name in the field all are shown instead. */
function containing(options: ComboboxParsedItem[], search: string): ComboboxParsedItem[] {
  return options.filter(
    option => 'value' in option && option.value.toLowerCase().includes(search.trim().toLowerCase()),
  );
}

function serverOf({ kind, url, key }: Draft): ModelServer {
  const api_key = kind.takesKey && key.trim() ? { api_key: key.trim() } : {};
  return { provider: kind.provider, url: url.trim(), ...api_key };
}

function lockOf(fixed: Fixed, setting: string) {
  const found = fixed.get(setting);
  return found ? { readOnly: true, variant: 'filled', description: `Set by ${found.set_by}` } : {};
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

function KeyInput({ draft, setup, onChange }: { draft: Draft; setup: ModelSetup; onChange: (key: string) => void }) {
  const { saved } = setup;
  const isSame = saved?.has_key === true && originOf(saved.url) === originOf(draft.url);
  const isMoved = saved?.has_key === true && !isSame;
  const fixed = fixedKey(fixedOf(setup), draft.url);
  if (fixed)
    return (
      <TextInput
        label="API key"
        readOnly
        variant="filled"
        value="Set elsewhere"
        description={`Set by ${fixed.set_by}`}
      />
    );
  return (
    <PasswordInput
      label="API key"
      description={
        isSame
          ? 'A key is stored for this address. Leave this empty to keep it.'
          : isMoved
            ? `The stored key belongs to ${originOf(saved.url)} and is removed when you save another address.`
            : 'Leave this empty where none is needed. It is stored on the server, apart from the other values.'
      }
      value={draft.key}
      onChange={event => onChange(event.currentTarget.value)}
      autoComplete="off"
    />
  );
}

function Listed({ offered }: { offered: ReturnType<typeof useOfferedModels> }) {
  const said = offered.isError
    ? offered.error.message
    : offered.data?.problem
      ? `No list of models: ${offered.data.problem}. ${offered.data.to_do}`
      : offered.data
        ? `${offered.data.models.length} ${offered.data.models.length === 1 ? 'model' : 'models'} to choose from.`
        : '';
  return (
    <Text size="sm" role="status" className={said ? '' : (classes.silent ?? '')}>
      {said}
    </Text>
  );
}

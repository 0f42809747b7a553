import { Alert, Anchor, Button, Code, Group, Stack, Text } from '@mantine/core';
import { TbBolt, TbLock } from 'react-icons/tb';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { Section } from '@/shared/components/Section';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import {
  type ModelOverview,
  type ModelSetup,
  useForgetModel,
  useLanguageModel,
  useOllamaFound,
  useSaveModel,
} from '@/shared/data/languageModel';
import { EmbeddingModel } from './EmbeddingModel';
import { InUse } from './InUse';
import { ModelForm } from './ModelForm';
import { SetElsewhere } from './SetElsewhere';
import { TreeNote } from './TreeNote';

/** The language model of the server: which one answers, trying another, and saving one. */
export function ModelTab() {
  const model = useLanguageModel();
  if (model.isPending) return <LoadingState label="Loading the language model" />;
  if (model.isError) return <ErrorState error={model.error} onRetry={() => void model.refetch()} />;
  return <Loaded overview={model.data} />;
}

function Loaded({ overview: { setup, locked } }: { overview: ModelOverview }) {
  return (
    <Stack gap="md">
      <InUse model={setup.in_use} />
      <LaterOllama setup={setup} locked={locked} />
      {setup.serves_tree && <TreeNote />}
      {locked && (
        <Alert variant="default" icon={<TbLock aria-hidden />} title="Read-only">
          <Text size="sm">{locked}</Text>
        </Alert>
      )}
      {!locked && <ModelForm key={formKey(setup)} setup={setup} />}
      {!locked && setup.saved && <Forget setup={setup} />}
      <SetElsewhere fixed={setup.fixed} />
      <EmbeddingModel />
    </Stack>
  );
}

/** A form begins anew when another model is in use. */
function formKey({ in_use, saved }: ModelSetup): string {
  return [in_use.provider, in_use.url, in_use.model, saved === null].join(' ');
}

function LaterOllama({ setup, locked }: { setup: ModelSetup; locked: string }) {
  const { data: found } = useOllamaFound();
  const save = useSaveModel();
  const [first] = found?.models ?? [];
  if (!found || first === undefined || setup.in_use.url !== null) return null;
  return (
    <Alert color="pine" variant="light" icon={<TbBolt aria-hidden />} title="Ollama is running">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          It runs at <Code>{found.url}</Code> and has{' '}
          {found.models.length === 1 ? 'one model' : `${found.models.length} models`}.
        </Text>
        {!locked && (
          <Group gap="xs">
            {found.models.slice(0, 5).map(model => (
              <Button
                key={model}
                size="xs"
                loading={save.isPending && save.variables.model === model}
                onClick={() => save.mutate({ provider: 'ollama', url: found.url, model })}
              >
                Use {model}
              </Button>
            ))}
          </Group>
        )}
        {save.isError && (
          <Text size="sm" role="alert">
            {save.error.message}
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

function Forget({ setup }: { setup: ModelSetup }) {
  const forget = useForgetModel();
  const { saved } = setup;
  if (saved === null) return null;
  const ask = async () => {
    const message = 'Its key is removed as well. Mnemoir then uses the model from its settings, if there is one.';
    if (await confirm({ title: 'Disconnect the model?', message, action: 'Disconnect' }))
      forget.mutate(undefined, { onError: error => notifyFailure('Could not disconnect the model', error) });
  };
  return (
    <Section title="Saved model">
      <Text size="sm">
        <Words limit={200}>{saved.model}</Words> at <Words limit={200}>{saved.url}</Words>,{' '}
        {saved.has_key ? 'with a key' : 'without a key'}
        {!saved.in_force && '. Not in use: llm.provider is set outside this page'}.{' '}
        <Anchor component="button" type="button" size="sm" inherit onClick={() => void ask()}>
          Disconnect model
        </Anchor>
      </Text>
    </Section>
  );
}

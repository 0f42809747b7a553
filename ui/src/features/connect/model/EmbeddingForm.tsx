import { Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { confirm } from '@/shared/components/confirm';
import {
  type EmbeddingSetup,
  useOfferedEmbeddings,
  useSaveEmbedding,
  useTestEmbedding,
} from '@/shared/data/embeddingModel';
import { type Status, useStatus } from '@/shared/data/status';
import {
  type EmbeddingDraft,
  embeddingDraftOf,
  embeddingServerOf,
  embedders,
  embedsAgain,
  firstEmbeddingDraft,
} from './embedders';
import { KeyInput } from './KeyInput';
import { fixedOf, lockOf, originOf } from './kinds';
import { ModelName } from './ModelName';
import { lasting, TestResult } from './TestResult';

/** Says where an embedding model runs, tries it and saves it for the next start. */
export function EmbeddingForm({ setup, onClose }: { setup: EmbeddingSetup; onClose: () => void }) {
  const [draft, setDraft] = useState(() => firstEmbeddingDraft(setup));
  const offered = useOfferedEmbeddings();
  const test = useTestEmbedding();
  const save = useSaveEmbedding();
  const { data: status } = useStatus();
  const fixed = fixedOf(setup);
  const provider = fixed.get('embedding.provider');

  const change = (part: Partial<EmbeddingDraft>) => {
    setDraft(before => ({ ...before, ...part }));
    test.reset();
    save.reset();
  };
  const server = embeddingServerOf(draft);
  const wanted = server && { ...server, model: draft.model.trim() };
  const isWhole = wanted === null || (wanted.url !== '' && wanted.model !== '');
  const submit = async () => {
    const question = {
      title: 'Change the embedding model?',
      message: `${cost(status?.counts)} This starts when Mnemoir is restarted, and runs in the background.`,
      action: 'Save',
    };
    if (!embedsAgain(draft, setup) || (await confirm(question))) save.mutate(wanted, { onSuccess: onClose });
  };
  return (
    <form
      aria-label="Embedding model"
      onSubmit={event => {
        event.preventDefault();
        void submit();
      }}
    >
      <Stack gap="md">
        <SegmentedControl
          aria-label="Where does it run?"
          value={draft.provider}
          disabled={provider !== undefined}
          onChange={value => {
            change(embeddingDraftOf(value, setup));
            offered.reset();
          }}
          data={embedders.map(one => ({ value: one.provider, label: one.name }))}
        />
        {server !== null && (
          <>
            <TextInput
              label="Address"
              value={draft.url}
              onChange={event => change({ url: event.currentTarget.value })}
              {...lockOf(fixed, 'embedding.base_url')}
            />
            {draft.provider === 'openai' && (
              <KeyInput
                value={draft.key}
                onChange={key => change({ key })}
                url={draft.url}
                saved={setup.saved}
                setBy={keySetBy(setup, draft.url)}
              />
            )}
            <ModelName
              value={draft.model}
              onChange={model => change({ model })}
              names={offered.data?.models ?? []}
              offered={offered}
              onList={server.url === '' ? null : () => offered.mutate(server)}
              lock={lockOf(fixed, 'embedding.model')}
            />
          </>
        )}
        <Group gap="xs">
          {wanted !== null && (
            <Button
              variant="default"
              disabled={!isWhole}
              loading={test.isPending}
              onClick={() => test.mutate(wanted)}
            >
              Test
            </Button>
          )}
          <Button type="submit" disabled={!isWhole} loading={save.isPending}>
            Save
          </Button>
          <Button variant="subtle" color="gray" onClick={onClose}>
            Cancel
          </Button>
        </Group>
        <TestResult test={test}>
          {found => `${found.dimension ?? 0} dimensions, in ${lasting(found.latency_ms)}.`}
        </TestResult>
        {save.isError && (
          <Text size="sm" c="red" role="alert">
            {save.error.message}
          </Text>
        )}
        <Text size="sm" c="dimmed">
          The change takes a restart of Mnemoir. {embedsAgain(draft, setup) && `${cost(status?.counts)} `}
          Until then, search uses the current model.
        </Text>
      </Stack>
    </form>
  );
}

/** Where the key for `url` is set, if that is not here. */
function keySetBy(setup: EmbeddingSetup, url: string): string | undefined {
  const fixed = fixedOf(setup);
  const theirs = fixed.get('embedding.base_url')?.value ?? setup.openai_url;
  return originOf(url) === originOf(theirs) ? fixed.get('embedding.api_key')?.set_by : undefined;
}

function cost(counts: Status['counts'] | undefined): string {
  if (counts === undefined || counts.memories === null) return 'All memories and messages are embedded again.';
  const { memories, embeddable } = counts;
  const messages = embeddable === null ? '' : ` and ${counted(embeddable, 'message', 'messages')}`;
  const isOne = memories === 1 && messages === '';
  return `${counted(memories, 'memory', 'memories')}${messages} ${isOne ? 'is' : 'are'} embedded again.`;
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

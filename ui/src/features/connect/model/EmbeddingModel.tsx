import { Alert, Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { TbRefresh } from 'react-icons/tb';
import { Section } from '@/shared/components/Section';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type EmbeddingOverview, type EmbeddingSetup, useEmbeddingModel } from '@/shared/data/embeddingModel';
import { EmbeddingForm } from './EmbeddingForm';
import { embedders } from './embedders';
import { SetElsewhere } from './SetElsewhere';

/** The embedding model in use, and a form to change it. */
export function EmbeddingModel() {
  const model = useEmbeddingModel();
  return (
    <Section title="Embedding model">
      {model.isPending && <LoadingState label="Loading the embedding model" />}
      {model.isError && <ErrorState error={model.error} onRetry={() => void model.refetch()} />}
      {model.data && <Loaded overview={model.data} />}
    </Section>
  );
}

function Loaded({ overview: { setup, locked } }: { overview: EmbeddingOverview }) {
  const [isOpen, setOpen] = useState(false);
  const provider = setup.fixed.find(one => one.key === 'embedding.provider');
  const isFixed = provider !== undefined && !embedders.some(one => one.provider === provider.value);
  return (
    <Stack gap="sm" align="stretch">
      <Text size="sm">
        <Named model={setup.in_use} /> makes the vectors for search by meaning.
      </Text>
      {setup.restart_needed && (
        <Alert color="pine" variant="light" icon={<TbRefresh aria-hidden />} title="Restart Mnemoir to switch">
          <Text size="sm">
            <Named model={setup.after_restart} /> is saved. It is used after the next start, and memories and messages
            are then embedded again in the background.
          </Text>
        </Alert>
      )}
      {!locked && !isFixed && !isOpen && (
        <Button variant="default" style={{ alignSelf: 'flex-start' }} onClick={() => setOpen(true)}>
          Change embedding model
        </Button>
      )}
      {isOpen && <EmbeddingForm setup={setup} onClose={() => setOpen(false)} />}
      <SetElsewhere fixed={setup.fixed} />
    </Stack>
  );
}

function Named({ model }: { model: EmbeddingSetup['in_use'] }) {
  return (
    <>
      <Words limit={200}>{model.model}</Words>
      {model.url === null ? (
        model.provider === 'builtin' && ' (built in)'
      ) : (
        <>
          {' '}
          at <Words limit={200}>{model.url}</Words>
          {model.has_key && ', with a key,'}
        </>
      )}
    </>
  );
}

import { Alert, Button, Group, Modal, NumberInput, Stack, Switch, Textarea } from '@mantine/core';
import { useState } from 'react';
import { ErrorState, LoadingState } from '@/shared/components/states';
import {
  type MemorySettings,
  useChangeMemorySettings,
  useMemorySettings,
} from '@/shared/data/memories/projectSettings';
import type { Scope } from '@/shared/data/scope';

interface DialogProps {
  owner: Scope;
  onClose: () => void;
}

/** How the project remembers: whether, how long, how much is recalled, and what extraction keeps. */
export function SettingsDialog({ owner, onClose }: DialogProps) {
  const known = useMemorySettings(owner.project);
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Memory settings of ${owner.project}`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {known.isPending && <LoadingState label="Loading the settings" />}
      {known.isError && <ErrorState error={known.error} onRetry={() => void known.refetch()} />}
      {known.data && !known.isFetching && (
        <SettingsForm project={owner.project} known={known.data} onClose={onClose} />
      )}
    </Modal>
  );
}

interface FormProps {
  project: string;
  known: MemorySettings & { prompt: string; isCustom: boolean };
  onClose: () => void;
}

function SettingsForm({ project, known, onClose }: FormProps) {
  const [memoryEnabled, setEnabled] = useState(known.memoryEnabled);
  const [decayDays, setDecayDays] = useState<number | string>(known.decayDays);
  const [searchLimit, setSearchLimit] = useState<number | string>(known.searchLimit);
  const [prompt, setPrompt] = useState(known.prompt);
  const change = useChangeMemorySettings(project);
  const settings = {
    ...(memoryEnabled !== known.memoryEnabled && { memoryEnabled }),
    ...(typeof decayDays === 'number' && decayDays !== known.decayDays && { decayDays }),
    ...(typeof searchLimit === 'number' && searchLimit !== known.searchLimit && { searchLimit }),
  };
  const isPromptNew = prompt.trim() !== '' && prompt !== known.prompt;
  const isComplete = typeof decayDays === 'number' && typeof searchLimit === 'number' && prompt.trim() !== '';
  const save = () =>
    change.mutate(
      { ...(Object.keys(settings).length > 0 && { settings }), ...(isPromptNew && { prompt }) },
      { onSuccess: onClose },
    );
  const reset = () =>
    change.mutate(
      { settings: { memoryEnabled: null, decayDays: null, searchLimit: null }, prompt: null },
      { onSuccess: onClose },
    );
  return (
    <Stack gap="md">
      <Switch
        label="Remember in this project"
        description="Off, no chat of this project recalls or learns anything, whatever it asks for."
        checked={memoryEnabled}
        onChange={event => setEnabled(event.currentTarget.checked)}
      />
      <Group grow align="flex-start">
        <NumberInput
          label="Facts fade after"
          description="Unless something confirms them. 0 keeps them."
          suffix=" days"
          min={0}
          max={1_000_000}
          value={decayDays}
          onChange={setDecayDays}
        />
        <NumberInput
          label="Most memories recalled"
          description="For one message of a chat, and by a search of the API."
          min={1}
          max={100}
          allowDecimal={false}
          value={searchLimit}
          onChange={setSearchLimit}
        />
      </Group>
      <Textarea
        label="Extraction prompt"
        description={known.isCustom ? 'The project’s own.' : 'The default. Change it to say what to keep.'}
        autosize
        minRows={6}
        maxRows={14}
        maxLength={50_000}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
        value={prompt}
        onChange={event => setPrompt(event.currentTarget.value)}
      />
      {change.isError && (
        <Alert color="red" variant="light" title="The settings were not saved" role="alert">
          {change.error.message}
        </Alert>
      )}
      <Group justify="space-between" gap="xs">
        <Button variant="subtle" color="gray" onClick={reset} loading={change.isPending}>
          Use the defaults
        </Button>
        <Group gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            onClick={save}
            loading={change.isPending}
            disabled={!isComplete || (Object.keys(settings).length === 0 && !isPromptNew)}
          >
            Save
          </Button>
        </Group>
      </Group>
    </Stack>
  );
}

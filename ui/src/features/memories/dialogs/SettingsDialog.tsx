import {
  Alert,
  Button,
  Group,
  Modal,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  Switch,
  Textarea,
} from '@mantine/core';
import { useState } from 'react';
import { isOnlyAt } from '@/shared/api/errors';
import { RetentionFields } from '@/shared/components/RetentionFields';
import { ErrorState, LoadingState } from '@/shared/components/states';
import {
  type MemorySettings,
  useChangeMemorySettings,
  useMemorySettings,
} from '@/shared/data/memories/projectSettings';
import { areDays, changedDays, daysOf, KEPT, ofProject } from '@/shared/data/retention';
import type { Scope } from '@/shared/data/scope';
import { changedPersonalData, type PersonalData, PersonalDataFields } from './PersonalDataFields';

interface DialogProps {
  owner: Scope;
  onClose: () => void;
}

/** How the project remembers: whether, how long, how much is recalled, what extraction keeps, and what goes. */
export function SettingsDialog({ owner, onClose }: DialogProps) {
  const known = useMemorySettings(owner.project);
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Memory settings for  ${owner.project}`}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {known.isPending && <LoadingState label="Loading settings" />}
      {known.isError && <ErrorState error={known.error} onRetry={() => void known.refetch()} />}
      {known.data && known.isFetchedAfterMount && (
        <SettingsForm project={owner.project} known={known.data} onClose={onClose} />
      )}
    </Modal>
  );
}

const REVIEWS: { value: MemorySettings['review']; label: string }[] = [
  { value: 'off', label: 'Nothing' },
  { value: 'changes', label: 'Changes and deletions' },
  { value: 'all', label: 'Everything' },
];

const NONE_OF_ITS_OWN = {
  memoryEnabled: null,
  decayDays: null,
  searchLimit: null,
  review: null,
  piiFacts: null,
  piiMessages: null,
  piiModels: null,
  memoriesDays: null,
  historyDays: null,
  deletedDays: null,
  timeZone: null,
};
const OF_SERVER = { value: '', label: 'The server’s' };

interface FormProps {
  project: string;
  known: MemorySettings & { prompt: string; isCustom: boolean };
  onClose: () => void;
}

function SettingsForm({ project, known, onClose }: FormProps) {
  const [memoryEnabled, setEnabled] = useState(known.memoryEnabled);
  const [decayDays, setDecayDays] = useState<number | string>(known.decayDays);
  const [searchLimit, setSearchLimit] = useState<number | string>(known.searchLimit);
  const [review, setReview] = useState(known.review);
  const [timeZone, setTimeZone] = useState(known.timeZone ?? '');
  const [personal, setPersonal] = useState<PersonalData>(known);
  const keptBefore = daysOf(known.retention.own, ofProject);
  const [kept, setKept] = useState(keptBefore);
  const [prompt, setPrompt] = useState(known.prompt);
  const change = useChangeMemorySettings(project);
  const settings = {
    ...(memoryEnabled !== known.memoryEnabled && { memoryEnabled }),
    ...(typeof decayDays === 'number' && decayDays !== known.decayDays && { decayDays }),
    ...(typeof searchLimit === 'number' && searchLimit !== known.searchLimit && { searchLimit }),
    ...(review !== known.review && { review }),
    ...(timeZone !== (known.timeZone ?? '') && { timeZone: timeZone || null }),
    ...changedPersonalData(known, personal),
    ...changedDays(keptBefore, kept),
  };
  const isPromptNew = prompt.trim() !== '' && prompt !== known.prompt;
  const isComplete =
    typeof decayDays === 'number' && typeof searchLimit === 'number' && areDays(kept) && prompt.trim() !== '';
  const save = () =>
    change.mutate(
      { ...(Object.keys(settings).length > 0 && { settings }), ...(isPromptNew && { prompt }) },
      { onSuccess: onClose },
    );
  const reset = () => change.mutate({ settings: NONE_OF_ITS_OWN, prompt: null }, { onSuccess: onClose });
  return (
    <Stack gap="md">
      <Switch
        label="Remember in this project"
        description="When off, no chat in this project recalls or learns anything."
        checked={memoryEnabled}
        onChange={event => setEnabled(event.currentTarget.checked)}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} style={{ alignItems: 'end' }}>
        <NumberInput
          label="Facts fade after"
          description="Unless confirmed in a chat. 0 keeps them forever."
          suffix=" days"
          min={0}
          max={1_000_000}
          value={decayDays}
          onChange={setDecayDays}
        />
        <NumberInput
          label="Memories recalled at most"
          description="Per chat message, and per search over the API."
          min={1}
          max={100}
          allowDecimal={false}
          value={searchLimit}
          onChange={setSearchLimit}
        />
      </SimpleGrid>
      <NativeSelect
        label="Review before remembering"
        description="Proposals are remembered only once approved."
        data={REVIEWS}
        value={review}
        onChange={event => setReview(event.currentTarget.value as MemorySettings['review'])}
      />
      <NativeSelect
        label="Time zone"
        description="For days such as “tomorrow”, unless an app or a person has set another."
        data={[OF_SERVER, ...new Set([...(timeZone ? [timeZone] : []), ...Intl.supportedValuesOf('timeZone')])]}
        value={timeZone}
        onChange={event => setTimeZone(event.currentTarget.value)}
      />
      <PersonalDataFields chosen={personal} onChange={setPersonal} />
      <RetentionFields
        days={kept}
        onChange={setKept}
        otherwise={daysOf(known.retention.otherwise, ofProject)}
        error={change.error}
        placeOf={ofProject}
      />
      <Textarea
        label="Extraction prompt"
        description={known.isCustom ? 'Custom for this project.' : 'The default. Edit it to say what to keep.'}
        autosize
        minRows={6}
        maxRows={14}
        maxLength={50_000}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 'var(--type-text)' } }}
        value={prompt}
        onChange={event => setPrompt(event.currentTarget.value)}
      />
      {change.isError && !isOnlyAt(change.error, KEPT.map(ofProject)) && (
        <Alert color="red" variant="light" title="Could not save the settings" role="alert">
          {change.error.message}
        </Alert>
      )}
      <Group justify="space-between" gap="xs">
        <Button variant="subtle" color="gray" onClick={reset} loading={change.isPending}>
          Reset to defaults
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

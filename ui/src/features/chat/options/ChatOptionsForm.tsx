import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { notifyFailure } from '@/shared/components/notify';
import type { ChatOptions } from '@/shared/data/completions';
import { useSetSystemPrompt } from '@/shared/data/conversations/conversation';
import type { Place } from '@/shared/data/scope';
import { keepPrompt, keepTemperature, readTemperature } from './chatOptions';

const LONGEST_PROMPT = 100_000; // characters; the server takes no more

interface ChatOptionsFormProps {
  conversation: string | null;
  place: Place;
  options: ChatOptions;
  onClose: () => void;
}

/** What this chat alone is asked with. Empty fields leave it to the model and the workflow. */
export function ChatOptionsForm({ conversation, place, options, onClose }: ChatOptionsFormProps) {
  const change = useSetSystemPrompt(conversation);
  const [before] = useState(options.systemPrompt);
  const [prompt, setPrompt] = useState(before);
  const [typed, setTyped] = useState(options.temperature === null ? '' : String(options.temperature));
  const [isRefused, setRefused] = useState(false);
  const temperature = readTemperature(typed);

  const save = async () => {
    if (Number.isNaN(temperature)) {
      setRefused(true);
      return;
    }
    const systemPrompt = prompt.trim();
    try {
      if (systemPrompt !== before) {
        const isThere = await change.mutateAsync(systemPrompt);
        keepPrompt(place, isThere ? '' : systemPrompt);
      }
      keepTemperature(place, temperature);
      onClose();
    } catch (error) {
      notifyFailure('Could not save the system prompt', error);
    }
  };
  return (
    <Stack gap="sm">
      <Textarea
        label="System prompt"
        description="Instructions for the model, in this chat only."
        autosize
        minRows={3}
        maxRows={10}
        maxLength={LONGEST_PROMPT}
        data-autofocus
        value={prompt}
        onChange={event => setPrompt(event.currentTarget.value)}
      />
      <TextInput
        label="Temperature"
        description="0 for the most predictable answers, up to 2. Empty for the model’s own."
        inputMode="decimal"
        autoComplete="off"
        value={typed}
        error={isRefused && Number.isNaN(temperature) && 'Enter a number from 0 to 2, or leave it empty.'}
        onChange={event => setTyped(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          event.preventDefault(); // no form: the one around the button sends messages
          void save();
        }}
      />
      <Group justify="flex-end" gap="sm">
        <Button size="xs" variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button size="xs" loading={change.isPending} onClick={() => void save()}>
          Save
        </Button>
      </Group>
    </Stack>
  );
}

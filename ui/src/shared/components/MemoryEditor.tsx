import { Alert, Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useEditMemory } from '../data/memories/change';
import type { Memory } from '../data/memories/list';
import type { Scope } from '../data/scope';
import { messageOf } from './states';

interface MemoryEditorProps {
  scope: Scope;
  memory: Memory;
  /** What the field is called. */
  label: string;
  /** In a row of a list. */
  compact?: boolean;
  onDone: () => void;
}

/** In place of a memory's words while they are edited. Ctrl+Enter saves, Escape leaves them as they were. */
export function MemoryEditor({ scope, memory, label, compact = false, onDone }: MemoryEditorProps) {
  const [typed, setTyped] = useState(memory.memory);
  const [seen] = useState(memory.updated_at); // when editing began
  const field = useRef<HTMLTextAreaElement>(null);
  const edit = useEditMemory(scope);
  useEffect(() => field.current?.focus(), []);

  const text = typed.trim();
  const save = () => {
    if (text === memory.memory) onDone();
    else edit.mutate({ id: memory.id, memory: text, updated_at: seen }, { onSuccess: onDone });
  };
  const size = compact ? 'compact-sm' : 'xs';
  return (
    <Stack gap={compact ? 6 : 'xs'}>
      <Textarea
        ref={field}
        aria-label={label}
        value={typed}
        autosize
        minRows={compact ? 2 : 3}
        maxRows={compact ? 10 : 14}
        maxLength={100_000}
        onChange={event => setTyped(event.currentTarget.value)}
        data-mantine-stop-propagation // Escape is for the field; a drawer around it stays open
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            onDone();
          }
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && text) save();
        }}
      />
      {edit.isError && <Refusal compact={compact} error={edit.error} />}
      <Group gap="xs">
        <Button size={size} onClick={save} disabled={!text} loading={edit.isPending}>
          Save
        </Button>
        <Button size={size} variant="default" onClick={onDone}>
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}

function Refusal({ compact, error }: { compact: boolean; error: Error }) {
  if (compact)
    return (
      <Text size="xs" c="red" role="alert">
        {messageOf(error)}
      </Text>
    );
  return (
    <Alert color="red" variant="light" title="Could not save" role="alert">
      {messageOf(error)}
    </Alert>
  );
}

import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { messageOf } from '@/shared/components/states';
import type { Memory } from '../api/memories';
import { useEditMemory } from '../api/memories-edit';

/** In place of a memory's words while they are edited. Escape leaves them as they were. */
export function EditMemory({ memory, onDone }: { memory: Memory; onDone: () => void }) {
  const [typed, setTyped] = useState(memory.memory);
  const field = useRef<HTMLTextAreaElement>(null);
  const edit = useEditMemory();
  useEffect(() => field.current?.focus(), []);

  const text = typed.trim();
  const save = () => {
    if (text === memory.memory) onDone();
    else edit.mutate({ memory, text }, { onSuccess: onDone });
  };
  return (
    <Stack gap={6}>
      <Textarea
        ref={field}
        aria-label="Memory"
        value={typed}
        autosize
        minRows={2}
        maxRows={10}
        onChange={event => setTyped(event.currentTarget.value)}
        data-mantine-stop-propagation // Escape is for the field; the drawer stays open
        onKeyDown={event => {
          if (event.key === 'Escape') onDone();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && text) save();
        }}
      />
      {edit.isError && (
        <Text size="xs" c="red.8" role="alert">
          {messageOf(edit.error)}
        </Text>
      )}
      <Group gap="xs">
        <Button size="compact-sm" onClick={save} disabled={!text} loading={edit.isPending}>
          Save
        </Button>
        <Button size="compact-sm" variant="default" onClick={onDone}>
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}

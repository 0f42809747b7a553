import { Alert, Button, Group, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { messageOf } from '@/shared/components/states';
import { useEditMemory } from '../api/change';
import type { ListedMemory, Owner } from '../api/keys';

interface EditTextProps {
  owner: Owner;
  memory: ListedMemory;
  onDone: () => void;
}

/** The words, to be put right. Ctrl+Enter saves, Escape leaves them as they were. */
export function EditText({ owner, memory, onDone }: EditTextProps) {
  const [text, setText] = useState(memory.memory);
  const [seen] = useState(memory.updated_at); // when editing began
  const edit = useEditMemory(owner);
  const canSave = text.trim() !== '' && text !== memory.memory;
  const save = () => {
    if (canSave) edit.mutate({ id: memory.id, memory: text, updated_at: seen }, { onSuccess: onDone });
  };
  return (
    <Stack gap="xs">
      <Textarea
        aria-label="Words of the memory"
        autosize
        minRows={3}
        maxRows={14}
        maxLength={100_000}
        data-autofocus
        ref={node => node?.focus()}
        value={text}
        onChange={event => setText(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            onDone();
          }
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save();
        }}
      />
      {edit.isError && (
        <Alert color="red" variant="light" title="It was not saved" role="alert">
          {messageOf(edit.error)}
        </Alert>
      )}
      <Group gap="xs">
        <Button size="xs" onClick={save} disabled={!canSave} loading={edit.isPending}>
          Save
        </Button>
        <Button size="xs" variant="default" onClick={onDone}>
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}

import { Button, Checkbox, Group, Modal, Stack, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { useAddMemory } from '../data/memories/add';
import type { Scope } from '../data/scope';
import { ErrorState } from './states';

interface DialogProps {
  owner: Scope;
  onClose: () => void;
}

/** Writes a memory down by hand: word for word, or as the facts that the model finds in it. Ctrl+Enter adds. */
export function AddMemoryDialog({ owner, onClose }: DialogProps) {
  const [typed, setTyped] = useState('');
  const [infer, setInfer] = useState(false);
  const add = useAddMemory(owner, {
    onSuccess: ({ results, known = [], proposed = [] }) => {
      if (results.length === 0 && known.length === 0 && proposed.length === 0) return;
      notifications.show({
        message: inWords(
          results.length,
          known.map(each => each.memory),
          proposed.length,
        ),
      });
      onClose();
    },
  });
  const text = typed.trim();
  const submit = () => text && add.mutate({ text, infer });
  return (
    <Modal opened onClose={onClose} title="Add a memory" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={event => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack gap="md">
          <Textarea
            label="Memory"
            description={`For ${owner.user} in ${owner.project}`}
            placeholder="I am allergic to nuts."
            autosize
            minRows={3}
            maxRows={12}
            maxLength={100_000}
            data-autofocus
            value={typed}
            onChange={event => setTyped(event.currentTarget.value)}
            onKeyDown={event => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && submit()}
          />
          <Checkbox
            label="Extract facts"
            description="The model splits the text into facts and compares them with existing memories. When off, the text is stored as is."
            checked={infer}
            onChange={event => setInfer(event.currentTarget.checked)}
          />
          {add.isError && <ErrorState error={add.error} title="Could not add the memory" />}
          {add.data?.results.length === 0 && !add.data.known?.length && !add.data.proposed?.length && (
            <ErrorState error={new Error('The model found no facts in it.')} title="Nothing was added" />
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!text} loading={add.isPending}>
              Add
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function inWords(changes: number, known: string[], waiting: number): string {
  if (waiting > 0) return `${waiting} ${waiting === 1 ? 'is' : 'are'} waiting for review`;
  if (changes === 0) return `Already known: ${known.join(' · ')}`;
  return changes === 1 ? 'Memory added' : `${changes} memories added or changed`;
}

import { Button, Group, Modal, NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '@/shared/api/errors';
import { messageOf } from '@/shared/components/states';
import { type ConfigOverview, useSaveWorkflow } from '@/shared/data/workflows';
import { namesFor } from '../editor/namesFor';

interface NewWorkflowDialogProps {
  tree: ConfigOverview;
  /** The folder that is offered first. */
  folder: string;
  onMade: (path: string) => void;
  onClose: () => void;
}

/** Makes a workflow file of one node that answers, or without a node where no endpoint suits. */
export function NewWorkflowDialog({ tree, folder, onMade, onClose }: NewWorkflowDialogProps) {
  const folders = foldersOf(tree);
  const [chosen, choose] = useState(folders.includes(folder) ? folder : (folders[0] ?? ''));
  const [name, setName] = useState('');
  const save = useSaveWorkflow();
  const path = `${chosen}/${name.trim().replace(/\.json$/i, '')}.json`;
  const make = async () => {
    try {
      await save.mutateAsync({ path, text: firstText(tree, path), digest: null });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'check_failed') return;
      await save.mutateAsync({ path, text: '[]\n', digest: null });
    }
    onMade(path);
  };
  return (
    <Modal opened onClose={onClose} title="New workflow" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={event => {
          event.preventDefault();
          make().catch(() => undefined); // `save` shows the error
        }}
      >
        <NativeSelect
          label="Folder"
          data={folders}
          value={chosen}
          onChange={event => choose(event.currentTarget.value)}
        />
        <TextInput
          mt="xs"
          label="Name"
          placeholder="Answer-in-verse"
          data-autofocus
          value={name}
          error={save.error && messageOf(save.error)}
          onChange={event => {
            setName(event.currentTarget.value);
            save.reset();
          }}
        />
        <Group justify="flex-end" gap="xs" mt="md">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!name.trim() || !chosen}>
            Create
          </Button>
        </Group>
      </form>
    </Modal>
  );
}

/** The folders that hold workflows. */
function foldersOf({ files }: ConfigOverview): string[] {
  const all = files
    .filter(file => file.kind === 'workflows')
    .map(file => file.path.split('/').slice(0, -1).join('/'));
  return [...new Set(all)].sort((one, other) => one.localeCompare(other));
}

function firstText(tree: ConfigOverview, path: string): string {
  const endpoint = namesFor(tree, path).get('endpointName')?.[0];
  const node = { title: 'Answer', type: 'Standard', endpointName: endpoint, prompt: '', returnToUser: true };
  return `${JSON.stringify(endpoint ? [node] : [], null, 2)}\n`;
}

import { Autocomplete, Button, Group, Modal, MultiSelect, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useMe } from '@/shared/data/access';
import type { BatchWork } from '@/shared/data/memories/change';
import type { Memory } from '@/shared/data/memories/list';
import { useProjects } from '@/shared/data/projects';
import type { Scope } from '@/shared/data/scope';
import { useBatches } from '../batches';
import { tagsOf } from '../tags';

/** What is done with those selected. */
export type Work = 'tag' | 'move' | 'expire';

/** What is known of each of those selected. */
export type Batched = Pick<Memory, 'id' | 'metadata' | 'expiration_date'>;

interface BatchDialogProps {
  work: Work;
  owner: Scope;
  memories: readonly Batched[];
  onDone: () => void;
  onClose: () => void;
}

const TITLES = { tag: 'Tag memories', move: 'Move to another project', expire: 'Let memories expire' };
const FORMS = { tag: TagForm, move: MoveForm, expire: ExpireForm };

/** Asks what is to be done with the selected memories, and does it with all of them or none. */
export function BatchDialog({ work, owner, memories, onDone, onClose }: BatchDialogProps) {
  const batch = useBatches(owner);
  const Form = FORMS[work];
  const ids = memories.map(({ id }) => id);
  const go = (what: BatchWork) => batch.mutate({ ids, ...what }, { onSuccess: onDone });
  return (
    <Modal opened onClose={onClose} title={TITLES[work]} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Form owner={owner} memories={memories} isBusy={batch.isPending} onGo={go} onClose={onClose} />
    </Modal>
  );
}

interface FormProps {
  owner: Scope;
  memories: readonly Batched[];
  isBusy: boolean;
  onGo: (what: BatchWork) => void;
  onClose: () => void;
}

function TagForm({ memories, isBusy, onGo, onClose }: FormProps) {
  const [add, setAdd] = useState<string[]>([]);
  const [remove, setRemove] = useState<string[]>([]);
  const present = [...new Set(memories.flatMap(tagsOf))].sort();
  return (
    <Stack gap="sm">
      <TagsInput
        label="Add tags"
        description="Enter or a comma ends a tag."
        data={present}
        value={add}
        onChange={tags => setAdd(tags.map(tag => tag.slice(0, 64)))}
        maxTags={20}
        data-autofocus
      />
      {present.length > 0 && (
        <MultiSelect label="Take tags away" data={present} value={remove} onChange={setRemove} maxValues={20} />
      )}
      <Go
        isBusy={isBusy}
        isReady={add.length + remove.length > 0}
        name={`Tag ${memories.length.toLocaleString()}`}
        onGo={() => onGo({ tags: { add, remove } })}
        onClose={onClose}
      />
    </Stack>
  );
}

const PROJECT = /^\w[\w.-]{0,127}$/;

function MoveForm({ owner, memories, isBusy, onGo, onClose }: FormProps) {
  const [project, setProject] = useState('');
  const own = useMe().projects;
  const known = useProjects().data ?? [];
  const others = (own ?? known.map(each => each.project)).filter(name => name !== owner.project);
  const isName = PROJECT.test(project);
  return (
    <Stack gap="sm">
      <Text size="sm">They keep their times, tags and origin. Their history begins anew there.</Text>
      <Autocomplete
        label="Project"
        data={others}
        value={project}
        onChange={setProject}
        error={project !== '' && !isName ? "Letters, digits, '.', '_' or '-', at most 128." : undefined}
        data-autofocus
      />
      <Go
        isBusy={isBusy}
        isReady={isName && project !== owner.project}
        name={`Move ${memories.length.toLocaleString()}`}
        onGo={() => onGo({ project })}
        onClose={onClose}
      />
    </Stack>
  );
}

function ExpireForm({ memories, isBusy, onGo, onClose }: FormProps) {
  const [day, setDay] = useState('');
  const hasDay = memories.some(memory => memory.expiration_date !== undefined);
  return (
    <Stack gap="sm">
      <Text size="sm">Behind their last day (UTC) they are hidden, and no chat recalls them.</Text>
      <TextInput
        type="date"
        label="Last day"
        value={day}
        onChange={event => setDay(event.currentTarget.value)}
        data-autofocus
      />
      <Go
        isBusy={isBusy}
        isReady={day !== ''}
        name={`Let ${memories.length.toLocaleString()} expire`}
        onGo={() => onGo({ expiration_date: day })}
        onClose={onClose}
      >
        {hasDay && (
          <Button variant="default" loading={isBusy} onClick={() => onGo({ expiration_date: null })}>
            Never
          </Button>
        )}
      </Go>
    </Stack>
  );
}

interface GoProps {
  name: string;
  isReady: boolean;
  isBusy: boolean;
  onGo: () => void;
  onClose: () => void;
  /** What else may be done. */
  children?: ReactNode;
}

function Go({ name, isReady, isBusy, onGo, onClose, children }: GoProps) {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onClose}>
        Cancel
      </Button>
      {children}
      <Button loading={isBusy} disabled={!isReady} onClick={onGo}>
        {name}
      </Button>
    </Group>
  );
}

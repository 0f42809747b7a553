import { Autocomplete, Button, Group, Modal, Radio, Stack, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { useMe } from '@/shared/data/access';
import type { Role } from '@/shared/data/apiKeys';
import { useProjects } from '@/shared/data/projects';
import { type InvitationWanted, useInvite, useMemoryUsers } from '@/shared/data/signIn/users';
import { useConfigTree } from '@/shared/data/workflows';
import { rolesToGive } from '../roles';
import { ShownLink } from './ShownLink';

/** Makes an invitation, and then shows its link. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const invite = useInvite();
  const made = invite.data;
  return (
    <Modal
      opened
      onClose={onClose}
      title={made ? 'The invitation' : 'Invite somebody'}
      withCloseButton={!made}
      closeOnClickOutside={!made}
      closeOnEscape={!made}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {made ? <ShownLink link={made} onClose={onClose} /> : <InviteForm invite={invite} onClose={onClose} />}
    </Modal>
  );
}

const ROLES: Record<Role, string> = {
  read: 'Reads and searches. Changes nothing.',
  write: 'Chats, and decides about their own memories and conversations.',
  admin: 'That, and manages people, keys and settings.',
  operator: 'Sees how the server does, and manages its keys. Reads no contents.',
};

interface Filled {
  name: string;
  role: Role;
  memoryUser: string;
  projects: string[];
  configs: string[];
}

function InviteForm({ invite, onClose }: { invite: ReturnType<typeof useInvite>; onClose: () => void }) {
  const me = useMe();
  const remembered = useMemoryUsers().data ?? [];
  const projects = useProjects().data ?? [];
  const configs = (useConfigTree().data?.users ?? []).map(user => user.name);
  const [filled, setFilled] = useState<Filled>({
    name: '',
    role: 'write',
    memoryUser: '',
    projects: [],
    configs: [],
  });
  const set = (changes: Partial<Filled>) => setFilled(before => ({ ...before, ...changes }));
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        invite.mutate(wanted(filled));
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Name"
          description="They may choose another when they join."
          placeholder="Anna"
          maxLength={80}
          data-autofocus
          value={filled.name}
          onChange={event => set({ name: event.currentTarget.value })}
          autoComplete="off"
        />
        <Radio.Group label="Role" value={filled.role} onChange={role => set({ role })}>
          <Stack gap="xs" mt={4}>
            {rolesToGive(me).map(role => (
              <Radio key={role} value={role} label={role} description={ROLES[role]} />
            ))}
          </Stack>
        </Radio.Group>
        <Autocomplete
          label="Memories of"
          description="Choose a name whose memories are there already, to go on with them. Empty: new ones."
          data={remembered.slice(0, 50)}
          maxLength={256}
          value={filled.memoryUser}
          onChange={memoryUser => set({ memoryUser })}
          autoComplete="off"
        />
        <TagsInput
          label="Projects"
          description="Press Enter after each. Empty: all."
          data={projects.map(each => each.project)}
          value={filled.projects}
          onChange={chosen => set({ projects: chosen })}
          acceptValueOnBlur
        />
        {configs.length > 1 && (
          <TagsInput
            label="Workflows of"
            description="Users of the config tree whose workflows may be asked. Empty: all."
            data={configs}
            value={filled.configs}
            onChange={chosen => set({ configs: chosen })}
            acceptValueOnBlur
          />
        )}
        {invite.isError && <ErrorState error={invite.error} title="No invitation was made" />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={invite.isPending}>
            Make the invitation
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The request; what is empty is left out. */
function wanted({ name, role, memoryUser, projects, configs }: Filled): InvitationWanted {
  return {
    role,
    ...(name.trim() && { name: name.trim() }),
    ...(memoryUser.trim() && { memory_user: memoryUser.trim() }),
    ...(projects.length && { projects }),
    ...(configs.length && { configs }),
  };
}

import { Autocomplete, Button, Group, Modal, Radio, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { type Me, useMe } from '@/shared/data/access';
import { type Role, useMakeKey, useTenants, type WantedKey } from '@/shared/data/apiKeys';
import { useProjects } from '@/shared/data/projects';
import { ROLES, rolesToGive } from './roles';
import { ShownKey } from './ShownKey';

const DAY_MS = 86_400_000;
const LIVES = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

/** Makes a key, and then shows its text. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const make = useMakeKey();
  const made = make.data;
  return (
    <Modal
      opened
      onClose={onClose}
      title={made ? 'The new key' : 'New key'}
      withCloseButton={!made}
      closeOnClickOutside={!made}
      closeOnEscape={!made}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {made ? <ShownKey made={made} onClose={onClose} /> : <NewKeyForm make={make} onClose={onClose} />}
    </Modal>
  );
}

interface Filled {
  label: string;
  role: Role;
  user: string;
  projects: string[];
  /** Days until it ends; "" for never. */
  days: string;
  tenant: string;
}

function NewKeyForm({ make, onClose }: { make: ReturnType<typeof useMakeKey>; onClose: () => void }) {
  const me = useMe();
  const known = useProjects().data ?? [];
  const [filled, setFilled] = useState<Filled>(() => ({
    label: '',
    role: 'write',
    user: me.user ?? '',
    projects: me.projects ?? [],
    days: '',
    tenant: me.tenant,
  }));
  const set = (changes: Partial<Filled>) => setFilled(before => ({ ...before, ...changes }));
  const lacksProject = me.projects !== null && filled.projects.length === 0;
  const users = [...new Set(known.flatMap(each => each.users.map(user => user.user_id)))];
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        if (!lacksProject) make.mutate(wanted(filled, me));
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Label"
          description="Which app or person it is for."
          placeholder="Open WebUI"
          maxLength={200}
          data-autofocus
          value={filled.label}
          onChange={event => set({ label: event.currentTarget.value })}
        />
        <Radio.Group label="Role" value={filled.role} onChange={role => set({ role })}>
          <Stack gap="xs" mt={4}>
            {rolesToGive(me).map(role => (
              <Radio key={role} value={role} label={role} description={ROLES[role]} />
            ))}
          </Stack>
        </Radio.Group>
        <Autocomplete
          label="User"
          description={
            me.user === null ? 'Sees and changes only what is this user’s. Empty: all users.' : 'Your own.'
          }
          data={users.slice(0, 50)}
          maxLength={256}
          readOnly={me.user !== null}
          value={filled.user}
          onChange={user => set({ user })}
          autoComplete="off"
        />
        <TagsInput
          label="Projects"
          description={me.projects === null ? 'Press Enter after each. Empty: all projects.' : 'Some of your own.'}
          data={me.projects ?? known.map(each => each.project)}
          value={filled.projects}
          onChange={projects => set({ projects })}
          error={lacksProject && 'Choose at least one project.'}
          acceptValueOnBlur
        />
        <Select
          label="Expires"
          data={LIVES}
          value={filled.days}
          allowDeselect={false}
          onChange={days => set({ days: days ?? '' })}
        />
        {me.roles.includes('operator') && <TenantField value={filled.tenant} onChange={tenant => set({ tenant })} />}
        {make.isError && <ErrorState error={make.error} title="The key was not made" />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={lacksProject} loading={make.isPending}>
            Make the key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function TenantField({ value, onChange }: { value: string; onChange: (tenant: string) => void }) {
  const tenants = useTenants().data ?? [];
  return (
    <Autocomplete
      label="Tenant"
      description="Tenants share nothing. A name that is not there yet is added."
      data={tenants.map(tenant => tenant.name)}
      value={value}
      onChange={onChange}
      maxLength={128}
      autoComplete="off"
    />
  );
}

/** The request; what is empty is left out, which means all. */
function wanted({ label, role, user, projects, days, tenant }: Filled, me: Me): WantedKey {
  return {
    role,
    label: label.trim(),
    ...(user.trim() && { user: user.trim() }),
    ...(projects.length && { projects }),
    ...(days && { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
    ...(tenant.trim() && tenant.trim() !== me.tenant && { tenant: tenant.trim() }),
  };
}

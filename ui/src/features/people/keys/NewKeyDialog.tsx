import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { type Me, useMe } from '@/shared/data/access';
import { useMakeKey, type WantedKey } from '@/shared/data/apiKeys';
import { useProjects } from '@/shared/data/projects';
import { GrantFields, lacksProject } from '../GrantFields';
import type { Grant } from '../grants';
import { SecretDialog } from '../SecretDialog';
import { ShownKey } from './ShownKey';

const DAY_MS = 86_400_000;
const LIVES = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

interface NewKeyDialogProps {
  /** What it is proposed to be called. */
  label: string;
  onClose: () => void;
}

/** Makes a key, and then shows its text. */
export function NewKeyDialog({ label, onClose }: NewKeyDialogProps) {
  const make = useMakeKey();
  return (
    <SecretDialog title={make.data ? 'The new key' : 'New key'} isMade={make.isSuccess} onClose={onClose}>
      {make.data ? (
        <ShownKey made={make.data} onClose={onClose} />
      ) : (
        <NewKeyForm label={label} make={make} onClose={onClose} />
      )}
    </SecretDialog>
  );
}

interface Filled extends Grant {
  label: string;
  /** Days until it ends; "" for never. */
  days: string;
}

interface NewKeyFormProps extends NewKeyDialogProps {
  make: ReturnType<typeof useMakeKey>;
}

function NewKeyForm({ label, make, onClose }: NewKeyFormProps) {
  const me = useMe();
  const known = useProjects().data ?? [];
  const [filled, setFilled] = useState<Filled>(() => ({
    label,
    role: 'write',
    user: me.user ?? '',
    projects: me.projects ?? [],
    configs: me.configs ?? [],
    days: '',
    tenant: me.tenant,
  }));
  const set = (changes: Partial<Filled>) => setFilled(before => ({ ...before, ...changes }));
  const isLacking = lacksProject(filled, me.projects);
  const users = [...new Set(known.flatMap(each => each.users.map(user => user.user_id)))];
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        if (!isLacking) make.mutate(wanted(filled, me));
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
        <GrantFields
          grant={filled}
          onChange={set}
          user={{
            label: 'User',
            description: 'Sees and changes only what is this user’s. Empty: all users.',
            known: users,
          }}
        />
        <Select
          label="Expires"
          data={LIVES}
          value={filled.days}
          allowDeselect={false}
          onChange={days => set({ days: days ?? '' })}
        />
        {make.isError && <ErrorState error={make.error} title="The key was not made" />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={isLacking} loading={make.isPending}>
            Make the key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The request; what is empty is left out, which means all. */
function wanted({ label, role, user, projects, configs, days, tenant }: Filled, me: Me): WantedKey {
  return {
    role,
    label: label.trim(),
    ...(user.trim() && { user: user.trim() }),
    ...(projects.length && { projects }),
    ...(configs.length && { configs }),
    ...(days && { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
    ...(tenant.trim() && tenant.trim() !== me.tenant && { tenant: tenant.trim() }),
  };
}

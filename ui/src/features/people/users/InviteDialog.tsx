import { Button, Checkbox, Group, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { type Me, useMe } from '@/shared/data/access';
import { useInvite, useMemoryUsers, type Wanted } from '@/shared/data/users';
import { GrantFields, lacksProject } from '../GrantFields';
import { type Grant, isOperator } from '../grants';
import { SecretDialog } from '../SecretDialog';
import { ShownLink } from './ShownLink';

const LIVES = [
  { value: '1', label: '1 day' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
];

/** Invites somebody, and then shows the link. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const invite = useInvite();
  return (
    <SecretDialog title={invite.data ? 'The invitation' : 'Invite'} isMade={invite.isSuccess} onClose={onClose}>
      {invite.data ? (
        <ShownLink made={invite.data} onClose={onClose} />
      ) : (
        <InviteForm invite={invite} onClose={onClose} />
      )}
    </SecretDialog>
  );
}

interface Filled extends Grant {
  name: string;
  operator: boolean;
  days: string;
}

function InviteForm({ invite, onClose }: { invite: ReturnType<typeof useInvite>; onClose: () => void }) {
  const me = useMe();
  const known = useMemoryUsers().data ?? [];
  const [filled, setFilled] = useState<Filled>(() => ({
    name: '',
    role: 'write',
    operator: false,
    user: '',
    projects: me.projects ?? [],
    configs: me.configs ?? [],
    tenant: me.tenant,
    days: '7',
  }));
  const set = (changes: Partial<Filled>) => setFilled(before => ({ ...before, ...changes }));
  const isLacking = lacksProject(filled, me.projects);
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        if (!isLacking) invite.mutate(wanted(filled, me));
      }}
    >
      <Stack gap="md">
        <TextInput
          label="Name"
          description="Suggested to the person who opens the link. They can choose another one."
          placeholder="Mira"
          maxLength={64}
          data-autofocus
          value={filled.name}
          onChange={event => set({ name: event.currentTarget.value })}
          autoComplete="off"
        />
        <GrantFields
          grant={filled}
          onChange={set}
          user={{
            label: 'Memories of',
            description:
              'Whose memories and conversations they see. Empty: new ones, under the name that they choose.',
            known,
          }}
        />
        {isOperator(me) && filled.role !== 'operator' && (
          <OperatorBox checked={filled.operator} onChange={operator => set({ operator })} />
        )}
        <Select
          label="The link works for"
          data={LIVES}
          value={filled.days}
          allowDeselect={false}
          onChange={days => set({ days: days ?? '7' })}
        />
        {invite.isError && <ErrorState error={invite.error} title="Nobody was invited" />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={isLacking} loading={invite.isPending}>
            Make the link
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function OperatorBox({ checked, onChange }: { checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <Checkbox
      label="Also operator"
      description="Sees health and counts of the whole server, and manages people and keys of all tenants."
      checked={checked}
      onChange={event => onChange(event.currentTarget.checked)}
    />
  );
}

/** The request; what is empty is left out, which means all. */
function wanted({ name, role, operator, user, projects, configs, tenant, days }: Filled, me: Me): Wanted {
  return {
    role,
    operator: operator && role !== 'operator',
    expires_in_days: Number(days),
    ...(name.trim() && { name: name.trim() }),
    ...(user.trim() && { memory_user: user.trim() }),
    ...(projects.length && { projects }),
    ...(configs.length && { configs }),
    ...(tenant.trim() && tenant.trim() !== me.tenant && { tenant: tenant.trim() }),
  };
}

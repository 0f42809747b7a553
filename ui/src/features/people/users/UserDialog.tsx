import { Button, Group, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { useMe } from '@/shared/data/access';
import { type Left, type User, useChangeUser, useMemoryUsers, type UserChanges } from '@/shared/data/users';
import { GrantFields, lacksProject } from '../GrantFields';
import { type Grant, isOperator } from '../grants';
import { OperatorBox } from './InviteDialog';

interface Filled extends Grant {
  operator: boolean;
}

interface UserDialogProps {
  user: User;
  onClose: () => void;
  /** Called behind `onClose` with what the change did not end. */
  onLeft: (left: Left) => void;
}

/** Changes what a user may. */
export function UserDialog({ user, onClose, onLeft }: UserDialogProps) {
  const me = useMe();
  const known = useMemoryUsers().data ?? [];
  const change = useChangeUser();
  const [before] = useState<Filled>(() => ({
    role: user.role,
    operator: user.operator,
    user: user.memory_user ?? '',
    projects: user.projects ?? [],
    configs: user.configs ?? [],
    tenant: user.tenant,
  }));
  const [filled, setFilled] = useState(before);
  const set = (changes: Partial<Filled>) => setFilled(former => ({ ...former, ...changes }));
  const changes = changesOf(before, filled);
  const isReady = Object.keys(changes).length > 0 && filled.user.trim() !== '' && !lacksProject(filled, me.projects);
  return (
    <Modal opened onClose={onClose} title={`Change ${user.name}`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (isReady)
            change.mutate(
              { id: user.id, changes },
              {
                onSuccess: left => {
                  onClose();
                  onLeft(left);
                },
              },
            );
        }}
      >
        <Stack gap="md">
          <GrantFields
            grant={filled}
            onChange={set}
            user={{
              label: 'Memories of',
              description: 'Whose memories and conversations they see from now on. Earlier ones stay where they are.',
              known,
            }}
            isTenantFixed
          />
          {isOperator(me) && filled.role !== 'operator' && (
            <OperatorBox checked={filled.operator} onChange={operator => set({ operator })} />
          )}
          {change.isError && <ErrorState error={change.error} title="Nothing was changed" />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isReady} loading={change.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** What differs, as the request says it: null means all. */
export function changesOf(before: Filled, now: Filled): UserChanges {
  const differs = (name: 'projects' | 'configs') => now[name].join('\n') !== before[name].join('\n');
  const user = now.user.trim();
  return {
    ...(now.role !== before.role && { role: now.role }),
    ...(now.operator !== before.operator && { operator: now.operator }),
    ...(user !== before.user && { memory_user: user }),
    ...(differs('projects') && { projects: now.projects.length ? now.projects : null }),
    ...(differs('configs') && { configs: now.configs.length ? now.configs : null }),
  };
}

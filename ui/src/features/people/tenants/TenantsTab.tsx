import { Badge, Button, Group, Modal, Stack, Table, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMe } from '@/shared/data/access';
import { type Tenant, usePutTenant, useTenants } from '@/shared/data/apiKeys';
import { daysInWords, daysOf, KEPT, NAMES, ofTenant } from '@/shared/data/retention';
import { useDialog } from '@/shared/hooks/useDialog';
import { TabIntro } from '../TabIntro';
import { RetentionDialog } from './RetentionDialog';

/** The tenants of the server: added, suspended, let go on, and for how long they keep things. */
export function TenantsTab() {
  const tenants = useTenants();
  const me = useMe();
  const { shown, open, close } = useDialog<'add' | 'retention'>();
  const [chosen, setChosen] = useState<Tenant | null>(null);
  if (tenants.isPending) return <LoadingState label="Loading the tenants" />;
  if (tenants.isError) return <ErrorState error={tenants.error} onRetry={() => void tenants.refetch()} />;
  return (
    <Stack gap="md">
      <TabIntro action="Add a tenant" onAction={() => open('add')}>
        Tenants share nothing, whatever their users and projects are called. A suspended one keeps its data, but its
        people and keys are locked out.
      </TabIntro>
      <Table.ScrollContainer minWidth="44rem" type="native" tabIndex={0} role="region" aria-label="Tenants, table">
        <Table verticalSpacing="xs" highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Tenant</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th>Keys</Table.Th>
              <Table.Th>Retention</Table.Th>
              <Table.Th>Created</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {tenants.data.map(tenant => (
              <TenantRow
                key={tenant.name}
                tenant={tenant}
                isOwn={tenant.name === me.tenant}
                onRetention={() => {
                  setChosen(tenant);
                  open('retention');
                }}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {shown === 'add' && <AddDialog onClose={close} />}
      {shown === 'retention' && chosen && <RetentionDialog tenant={chosen} onClose={close} />}
    </Stack>
  );
}

interface TenantRowProps {
  tenant: Tenant;
  isOwn: boolean;
  onRetention: () => void;
}

function TenantRow({ tenant, isOwn, onRetention }: TenantRowProps) {
  const { name, suspended_at, created_at, keys } = tenant;
  const put = usePutTenant();
  const isSuspended = suspended_at !== null;
  const turn = async () => {
    const message = 'Its people and keys are locked out until you resume it. Its data stays.';
    if (isSuspended || (await confirm({ title: `Suspend ${name}?`, message, action: 'Suspend' })))
      put.mutate(
        { name, suspended: !isSuspended },
        { onError: error => notifyFailure('The tenant was not changed', error) },
      );
  };
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        <Words limit={128}>{name}</Words>
        {isOwn && (
          <Text span size="xs" c="dimmed">
            {' '}
            yours
          </Text>
        )}
      </Table.Th>
      <Table.Td>
        <Badge color={isSuspended ? 'gray' : 'pine'} variant="light" tt="none" fw={600} autoContrast>
          {isSuspended ? 'suspended' : 'active'}
        </Badge>
      </Table.Td>
      <Table.Td>{keys.toLocaleString()}</Table.Td>
      <Table.Td>
        <Retention tenant={tenant} />
      </Table.Td>
      <Table.Td>
        <Time value={created_at} ago />
      </Table.Td>
      <Table.Td>
        <Group justify="flex-end" gap="xs" wrap="nowrap">
          <Button size="compact-sm" variant="default" aria-label={`Retention: ${name}`} onClick={onRetention}>
            Retention…
          </Button>
          {(!isOwn || isSuspended) && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`${isSuspended ? 'Resume' : 'Suspend'}: ${name}`}
              loading={put.isPending}
              onClick={() => void turn()}
            >
              {isSuspended ? 'Resume' : 'Suspend…'}
            </Button>
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

/** For how long a tenant keeps things, as far as it says itself. */
function Retention({ tenant }: { tenant: Tenant }) {
  const days = daysOf(tenant.retention, ofTenant);
  const own = KEPT.filter(kept => days[kept] !== '');
  if (!own.length) return 'as for the server';
  return own.map(kept => (
    <Text key={kept} size="xs">
      {NAMES[kept]}: {daysInWords(days[kept])}
    </Text>
  ));
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const put = usePutTenant();
  return (
    <Modal opened onClose={onClose} title="Add a tenant" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (name.trim()) put.mutate({ name: name.trim(), suspended: false }, { onSuccess: onClose });
        }}
      >
        <Stack gap="md">
          <TextInput
            label="Name"
            description="Then invite its first admin in Users, or make a key for it in Keys."
            maxLength={128}
            data-autofocus
            value={name}
            onChange={event => setName(event.currentTarget.value)}
            autoComplete="off"
          />
          {put.isError && <ErrorState error={put.error} title="The tenant was not added" />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!name.trim()} loading={put.isPending}>
              Add
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

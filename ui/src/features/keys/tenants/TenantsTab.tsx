import { Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { usePutTenant, useTenants } from '@/shared/data/apiKeys';

/** The tenants of the server, which share nothing. */
export function TenantsTab() {
  const list = useTenants();
  const put = usePutTenant();
  const [name, setName] = useState('');
  if (list.isPending) return <LoadingState label="Loading the tenants" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const add = (event: SyntheticEvent) => {
    event.preventDefault();
    put.mutate({ name: name.trim() }, { onSuccess: () => setName('') });
  };
  const suspend = async (tenant: string, suspended: boolean) => {
    const message = 'All its keys and people are refused until you let it go on. Nothing is deleted.';
    if (!suspended || (await confirm({ title: `Suspend ${tenant}?`, message, action: 'Suspend' })))
      put.mutate({ name: tenant, suspended }, { onError: error => notifyFailure('Nothing was changed', error) });
  };
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed" maw="44rem">
        Tenants share nothing: memories, conversations, settings, people and keys of each are its own.
      </Text>
      <form onSubmit={add}>
        <Group align="end" gap="xs">
          <TextInput
            label="New tenant"
            value={name}
            onChange={event => setName(event.currentTarget.value)}
            maxLength={128}
            autoComplete="off"
          />
          <Button type="submit" variant="default" disabled={!name.trim()} loading={put.isPending}>
            Add
          </Button>
        </Group>
      </form>
      {put.isError && <ErrorState error={put.error} title="Nothing was changed" />}
      <Table aria-label="Tenants" verticalSpacing="xs" highlightOnHover maw="48rem">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Tenant</Table.Th>
            <Table.Th>Keys</Table.Th>
            <Table.Th>Added</Table.Th>
            <Table.Th>State</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {list.data.map(tenant => (
            <Table.Tr key={tenant.name}>
              <Table.Th scope="row" fw={500}>
                <Words limit={80}>{tenant.name}</Words>
              </Table.Th>
              <Table.Td>{tenant.keys}</Table.Td>
              <Table.Td>
                <Time value={tenant.created_at} ago />
              </Table.Td>
              <Table.Td>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`${tenant.suspended_at ? 'Let go on' : 'Suspend'} ${tenant.name}`}
                  onClick={() => void suspend(tenant.name, !tenant.suspended_at)}
                >
                  {tenant.suspended_at ? 'Suspended: let it go on' : 'Suspend…'}
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}

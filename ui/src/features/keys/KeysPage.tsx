import { Tabs } from '@mantine/core';
import { TbBuilding, TbKey, TbListCheck, TbUsers } from 'react-icons/tb';
import { PageFrame } from '@/shared/components/PageFrame';
import { useAbout } from '@/shared/data/about';
import { useMe } from '@/shared/data/access';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import { AuditTab } from './audit/AuditTab';
import { KeysTab } from './keys/KeysTab';
import classes from './KeysPage.module.css';
import { TenantsTab } from './tenants/TenantsTab';
import { NoKeyNeeded } from './users/NoKeyNeeded';
import { UsersTab } from './users/UsersTab';

const TABS = ['users', 'keys', 'tenants', 'audit'];

/** Who may call the server: people, the keys of apps, and what was done by them. */
export function KeysPage() {
  const needsKey = useAbout().data?.needs_key;
  return (
    <PageFrame title="People and keys">
      {needsKey === true && <Parts />}
      {needsKey === false && <NoKeyNeeded />}
    </PageFrame>
  );
}

function Parts() {
  const { params, change } = useAddressParams();
  const isOperator = useMe().roles.includes('operator');
  const part = TABS.find(tab => tab === params.get('part')) ?? 'users';
  return (
    <Tabs
      value={part}
      onChange={chosen => change({ part: chosen === 'users' ? null : chosen })}
      keepMounted={false}
      variant="pills"
      classNames={{ panel: classes.part ?? '' }}
    >
      <Tabs.List aria-label="People and keys">
        <Tabs.Tab value="users" leftSection={<TbUsers size={16} aria-hidden />}>
          People
        </Tabs.Tab>
        <Tabs.Tab value="keys" leftSection={<TbKey size={16} aria-hidden />}>
          Keys
        </Tabs.Tab>
        {isOperator && (
          <Tabs.Tab value="tenants" leftSection={<TbBuilding size={16} aria-hidden />}>
            Tenants
          </Tabs.Tab>
        )}
        <Tabs.Tab value="audit" leftSection={<TbListCheck size={16} aria-hidden />}>
          Audit log
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="users">
        <UsersTab />
      </Tabs.Panel>
      <Tabs.Panel value="keys">
        <KeysTab />
      </Tabs.Panel>
      {isOperator && (
        <Tabs.Panel value="tenants">
          <TenantsTab />
        </Tabs.Panel>
      )}
      <Tabs.Panel value="audit">
        <AuditTab />
      </Tabs.Panel>
    </Tabs>
  );
}

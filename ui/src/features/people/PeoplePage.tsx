import { Tabs } from '@mantine/core';
import type { ComponentType } from 'react';
import type { IconType } from 'react-icons';
import { TbBuilding, TbChartBar, TbHistory, TbKey, TbUsers } from 'react-icons/tb';
import { PageFrame } from '@/shared/components/PageFrame';
import { LoadingState } from '@/shared/components/states';
import { useAbout } from '@/shared/data/about';
import { useMe } from '@/shared/data/access';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import { AuditTab } from './audit/AuditTab';
import { KeysTab } from './keys/KeysTab';
import classes from './PeoplePage.module.css';
import { TenantsTab } from './tenants/TenantsTab';
import { UsageTab } from './usage/UsageTab';
import { UsersTab } from './users/UsersTab';

interface Part {
  id: string;
  name: string;
  Icon: IconType;
  Tab: ComponentType;
  /** Of use only once somebody has to sign in; the rest leads there. */
  isForKeyed?: boolean;
  isForOperators?: boolean;
}

const [USERS, ...OTHERS]: [Part, ...Part[]] = [
  { id: 'users', name: 'Users', Icon: TbUsers, Tab: UsersTab },
  { id: 'keys', name: 'Keys', Icon: TbKey, Tab: KeysTab },
  { id: 'tenants', name: 'Tenants', Icon: TbBuilding, Tab: TenantsTab, isForKeyed: true, isForOperators: true },
  { id: 'usage', name: 'Limits and use', Icon: TbChartBar, Tab: UsageTab, isForKeyed: true },
  { id: 'audit', name: 'Audit log', Icon: TbHistory, Tab: AuditTab, isForKeyed: true },
];

/** Who may use the server, by what, and what they did with keys, settings and all of somebody's data. */
export function PeoplePage() {
  const { params, change } = useAddressParams();
  const isOperator = useMe().roles.includes('operator');
  const needsKey = useAbout().data?.needs_key;
  const others = OTHERS.filter(
    ({ isForKeyed, isForOperators }) => (needsKey || !isForKeyed) && (isOperator || !isForOperators),
  );
  const parts = [USERS, ...others];
  const chosen = parts.find(({ id }) => id === params.get('part')) ?? USERS;
  if (needsKey === undefined) return <LoadingState />;
  return (
    <PageFrame title="People and keys" column>
      <Tabs
        value={chosen.id}
        onChange={id => change({ part: id === USERS.id ? null : id, action: null, actor: null, day: null })}
        keepMounted={false}
        variant="pills"
        classNames={{ panel: classes.part ?? '' }}
      >
        <Tabs.List aria-label="What to manage">
          {parts.map(({ id, name, Icon }) => (
            <Tabs.Tab key={id} value={id} leftSection={<Icon size={16} aria-hidden />}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {parts.map(({ id, Tab }) => (
          <Tabs.Panel key={id} value={id}>
            <Tab />
          </Tabs.Panel>
        ))}
      </Tabs>
    </PageFrame>
  );
}

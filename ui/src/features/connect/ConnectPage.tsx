import { Tabs } from '@mantine/core';
import { TbApps, TbBrain } from 'react-icons/tb';
import { PageFrame } from '@/shared/components/PageFrame';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import { AppsTab } from './AppsTab';
import classes from './ConnectPage.module.css';
import { ModelTab } from './model/ModelTab';

/** The two sides of the server: the apps that call it, and the language model that it calls. */
export function ConnectPage() {
  const { params, change } = useAddressParams();
  const part = params.get('part') === 'model' ? 'model' : 'apps';
  return (
    <PageFrame title="Connect" column>
      <Tabs
        value={part}
        onChange={chosen => change({ part: chosen === 'model' ? chosen : null })}
        keepMounted={false}
        variant="pills"
        classNames={{ panel: classes.part ?? '' }}
      >
        <Tabs.List aria-label="What to connect">
          <Tabs.Tab value="apps" leftSection={<TbApps size={16} aria-hidden />}>
            Apps
          </Tabs.Tab>
          <Tabs.Tab value="model" leftSection={<TbBrain size={16} aria-hidden />}>
            Language model
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="apps">
          <AppsTab />
        </Tabs.Panel>
        <Tabs.Panel value="model">
          <ModelTab />
        </Tabs.Panel>
      </Tabs>
    </PageFrame>
  );
}

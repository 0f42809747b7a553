import { Button, Checkbox, Menu, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { TbChevronDown, TbSettings } from 'react-icons/tb';
import { change, useSettings } from '@/shared/settings/settings';

/** The project at work, with its settings. */
export function ProjectMenu() {
  const { project, memoryEnabled } = useSettings();
  const [opened, dialog] = useDisclosure(false);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" size="xs" rightSection={<TbChevronDown size={14} aria-hidden />}>
            {project}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<TbSettings size={16} aria-hidden />} onClick={dialog.open}>
            Settings
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={opened} onClose={dialog.close} title="Settings">
        <Checkbox
          label="Long Term Memory"
          checked={memoryEnabled}
          onChange={event => change.memoryEnabled(event.currentTarget.checked)}
        />
      </Modal>
    </>
  );
}

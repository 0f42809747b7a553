import { Button, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useRef } from 'react';
import { TbCheck, TbChevronDown, TbSettings } from 'react-icons/tb';
import { Words } from '@/shared/components/Words';
import { useMe } from '@/shared/data/access';
import { useProjects } from '@/shared/data/projects';
import { useSettings } from '@/shared/settings/settings';
import { SettingsDialog } from './SettingsDialog';
import classes from './settings.module.css';
import { useChangeScope } from './useChangeScope';

const MOST_LISTED = 12;

/** The project at work: others to go to, and the settings. */
export function ProjectMenu() {
  const { project } = useSettings();
  const [opened, dialog] = useDisclosure(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <Menu position="bottom-end" width="15rem">
        <Menu.Target>
          <Button
            ref={button}
            variant="default"
            size="xs"
            rightSection={<TbChevronDown size={14} aria-hidden />}
            aria-label={`Project ${project}`}
            classNames={{ label: classes.project }}
          >
            {project}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Projects current={project} />
          <Menu.Item leftSection={<TbSettings size={16} aria-hidden />} onClick={dialog.open}>
            Settings
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <SettingsDialog opened={opened} onClose={dialog.close} onClosed={() => button.current?.focus()} />
    </>
  );
}

/** Asked for when the menu opens. */
function Projects({ current }: { current: string }) {
  const change = useChangeScope();
  const known = useProjects().data?.map(one => one.project) ?? [];
  const names = useMe().projects ?? known;
  const others = names.filter(name => name !== current);
  if (!others.length) return null;
  return (
    <>
      <Menu.Label>Projects</Menu.Label>
      {[current, ...others.slice(0, MOST_LISTED)].map(name => (
        <Menu.Item
          key={name}
          onClick={() => change.project(name)}
          leftSection={
            name === current ? <TbCheck size={16} aria-label="chosen" /> : <span className={classes.blank} />
          }
        >
          <Words>{name}</Words>
        </Menu.Item>
      ))}
      <Menu.Divider />
    </>
  );
}

import { Anchor, Code, Popover, Text, UnstyledButton } from '@mantine/core';
import { Link } from 'react-router';
import { useMemoryUse } from '@/shared/data/memoryUse';
import { useSettings } from '@/shared/settings/settings';
import classes from './artifacts.module.css';

/** Memory is on, and the workflow that answers neither recalls nor learns: says so, and what to add to it. */
export function NoMemoryNotice() {
  const { memoryEnabled } = useSettings();
  const usesMemory = useMemoryUse();
  if (!memoryEnabled || usesMemory) return null;
  return (
    <Popover width="min(24rem, 90vw)" position="bottom-end" withArrow shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton className={classes.notice ?? ''}>This workflow does not use memory</UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <WhatToAdd />
      </Popover.Dropdown>
    </Popover>
  );
}

/** What a workflow needs in order to remember. */
export function WhatToAdd() {
  return (
    <Text size="sm">
      Its chats recall and learn nothing, whatever the switch says. Add a node of the type <Code>Recall</Code> before
      the one that answers, and one of the type <Code>Remember</Code> behind it; <Code>docs/nodes/Recall.md</Code> and{' '}
      <Code>docs/nodes/Remember.md</Code> have examples. The page{' '}
      <Anchor component={Link} to="/workflows" inherit underline="always">
        Workflows
      </Anchor>{' '}
      shows what it has now.
    </Text>
  );
}

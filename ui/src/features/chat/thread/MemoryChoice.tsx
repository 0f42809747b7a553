import { Anchor, Button, Group, Paper, Text } from '@mantine/core';
import { useRef } from 'react';
import { useMemoryUse } from '@/shared/data/memoryUse';
import { change, useMemoryChosen, useSettings } from '@/shared/settings/settings';
import { WhatToAdd } from '../artifacts/NoMemoryNotice';
import classes from './EmptyChat.module.css';

/** What memory does in this chat; asked once, and told from then on. */
export function MemoryChoice() {
  const { memoryEnabled } = useSettings();
  const isChosen = useMemoryChosen();
  const usesMemory = useMemoryUse();
  const told = useRef<HTMLDivElement>(null);
  const choose = (isWanted: boolean) => {
    told.current?.focus(); // the buttons go
    change.memoryChoice(isWanted);
  };
  return (
    <div ref={told} tabIndex={-1} className={classes.memory} role="group" aria-label="Memory">
      {!usesMemory && <NoMemory />}
      {usesMemory && !isChosen && <Choice onChoose={choose} />}
      {usesMemory && isChosen && memoryEnabled && (
        <Text c="dimmed">
          Long-term memory is on: what you say is remembered, and recalled in other chats. Each answer shows what was
          learned.
        </Text>
      )}
      {usesMemory && isChosen && !memoryEnabled && <SwitchedOff />}
    </div>
  );
}

function Choice({ onChoose }: { onChoose: (isWanted: boolean) => void }) {
  return (
    <Paper withBorder p="md" radius="md">
      <Text fw={600} mb={4}>
        Should Mnemoir remember what you say?
      </Text>
      <Text size="sm" c="dimmed" mb="sm">
        It learns facts from your chats and recalls them in others. Each answer shows what was learned, and you can
        undo it. You can turn memory off or delete all memories at any time.
      </Text>
      <Group grow gap="sm" preventGrowOverflow={false} className={classes.choice ?? ''}>
        <Button variant="default" onClick={() => onChoose(true)}>
          Remember what I say
        </Button>
        <Button variant="default" onClick={() => onChoose(false)}>
          Not now
        </Button>
      </Group>
    </Paper>
  );
}

function SwitchedOff() {
  return (
    <Text c="dimmed">
      Long-term memory is off: this chat is saved, but nothing is learned from it.{' '}
      <Anchor component="button" type="button" inherit underline="always" onClick={() => change.memoryEnabled(true)}>
        Turn it on
      </Anchor>{' '}
      here or in the project settings.
    </Text>
  );
}

function NoMemory() {
  return (
    <>
      <Text c="dimmed" mb={4}>
        This workflow does not use memory.
      </Text>
      <Text c="dimmed" component="div">
        <WhatToAdd />
      </Text>
    </>
  );
}

import { Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { TbPlus } from 'react-icons/tb';

interface TabIntroProps {
  children: ReactNode;
  /** What the button says, and does. */
  action: string;
  onAction: () => void;
}

/** The beginning of a tab: what it is about, and the button that adds to it. */
export function TabIntro({ children, action, onAction }: TabIntroProps) {
  return (
    <Group justify="space-between" align="flex-start" gap="sm">
      <Text size="sm" c="dimmed" maw="44rem">
        {children}
      </Text>
      <Button size="xs" leftSection={<TbPlus size={15} aria-hidden />} onClick={onAction}>
        {action}
      </Button>
    </Group>
  );
}

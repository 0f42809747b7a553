import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { TbAlertTriangle } from 'react-icons/tb';
import { CopyButton } from '@/shared/components/CopyButton';
import type { NewKey } from '@/shared/data/apiKeys';
import classes from './ShownKey.module.css';

interface ShownKeyProps {
  made: NewKey;
  /** What else there is to know about it. */
  note?: string;
  onClose: () => void;
}

/** The text of a key that was just made, which no one can see again. */
export function ShownKey({ made, note, onClose }: ShownKeyProps) {
  return (
    <Stack gap="md">
      <Alert color="yellow" variant="light" icon={<TbAlertTriangle aria-hidden />} title="Copy it now">
        <Text size="sm">
          This key is shown this once. Mnemoir does not keep it, so nobody can look it up later. Whoever has it can
          use it.
        </Text>
      </Alert>
      <Group gap="xs" wrap="nowrap">
        <Code className={classes.text ?? ''} fz="sm" p="xs" aria-label="The new key">
          {made.key}
        </Code>
        <CopyButton text={made.key} label="Copy the key" />
      </Group>
      {note && <Text size="sm">{note}</Text>}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

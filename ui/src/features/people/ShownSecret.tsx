import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { TbAlertTriangle } from 'react-icons/tb';
import { CopyButton } from '@/shared/components/CopyButton';
import classes from './ShownSecret.module.css';

interface ShownSecretProps {
  text: string;
  /** What it is: "The new key". */
  name: string;
  /** What the button that copies it says. */
  copy: string;
  /** Why it must be kept with care. */
  warning: string;
  /** What else there is to know about it. */
  note?: string | undefined;
  onClose: () => void;
}

/** A text that was just made, which no one can see again. */
export function ShownSecret({ text, name, copy, warning, note, onClose }: ShownSecretProps) {
  return (
    <Stack gap="md">
      <Alert color="yellow" variant="light" icon={<TbAlertTriangle aria-hidden />} title="Copy it now">
        <Text size="sm">{warning}</Text>
      </Alert>
      <Group gap="xs" wrap="nowrap">
        <Code className={classes.text ?? ''} fz="sm" p="xs" aria-label={name}>
          {text}
        </Code>
        <CopyButton text={text} label={copy} />
      </Group>
      {note && <Text size="sm">{note}</Text>}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

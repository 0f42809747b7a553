import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { CopyButton } from '@/shared/components/CopyButton';
import { Time } from '@/shared/components/Time';
import type { Link } from '@/shared/data/signIn/users';
import classes from '../keys/ShownKey.module.css';

/** A link that counts once, which no one can see again. */
export function ShownLink({ link: { link, expires_at: until }, onClose }: { link: Link; onClose: () => void }) {
  return (
    <Stack gap="md">
      <Text size="sm">
        Send it to them over a way that only they read. It counts once
        {until && (
          <>
            , until <Time value={until} />
          </>
        )}
        , and is shown this once.
      </Text>
      <Group gap="xs" wrap="nowrap">
        <Code className={classes.text ?? ''} fz="sm" p="xs" aria-label="The link">
          {link}
        </Code>
        <CopyButton text={link} label="Copy the link" />
      </Group>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

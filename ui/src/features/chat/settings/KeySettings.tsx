import { Button, Checkbox, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { dropKey, reportMissingKey } from '@/shared/api/key';
import { Words } from '@/shared/components/Words';
import { type Me, useEnterKey, useForget, useMe } from '@/shared/data/access';

/** The API key of a server that asks for one: another one in its place, or none. */
export function KeySettings() {
  const me = useMe();
  const [key, setKey] = useState('');
  const [onDevice, setOnDevice] = useState(false);
  const entering = useEnterKey(() => setKey(''));
  const forgetAll = useForget();

  const forget = () => {
    dropKey();
    forgetAll();
    reportMissingKey();
  };
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        if (key.trim()) entering.mutate({ key: key.trim(), onDevice });
      }}
    >
      <Stack gap="xs">
        {me.key !== null && (
          <Text size="sm" component="p" m={0}>
            Key in use: <Words limit={80}>{me.key}</Words>, {inWords(me)}.
          </Text>
        )}
        <PasswordInput
          label="API key"
          description="Replaces the current key. Kept until this tab is closed."
          value={key}
          onChange={event => setKey(event.currentTarget.value)}
          error={entering.error?.message}
          autoComplete="off"
        />
        <Checkbox
          label="Remember on this device"
          checked={onDevice}
          onChange={event => setOnDevice(event.currentTarget.checked)}
        />
        <Group gap="xs">
          <Button type="submit" size="xs" disabled={!key.trim()} loading={entering.isPending}>
            Use this key
          </Button>
          <Button size="xs" variant="default" onClick={forget}>
            Forget the key
          </Button>
        </Group>
        <Text size="xs" c="dimmed">
          Anyone using this browser can read a remembered key.
        </Text>
      </Stack>
    </form>
  );
}

function inWords({ roles, tenant }: Me): string {
  return `role ${roles.join(' and ')}${tenant === 'default' ? '' : `, tenant ${tenant}`}`;
}

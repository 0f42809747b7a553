import { Button, Checkbox, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useEverything } from '@/shared/data/access';
import { dropKey, keepKey, reportMissingKey } from '@/shared/api/key';

/** The API key of a server that asks for one: another one in its place, or none. */
export function KeySettings() {
  const [key, setKey] = useState('');
  const [onDevice, setOnDevice] = useState(false);
  const everything = useEverything();

  const save = () => {
    keepKey(key.trim(), onDevice);
    setKey('');
    everything.askAgain();
  };
  const forget = () => {
    dropKey();
    everything.forget();
    reportMissingKey();
  };
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        if (key.trim()) save();
      }}
    >
      <Stack gap="xs">
        <PasswordInput
          label="API key"
          description="In place of the one in use. It is kept until this tab is closed."
          value={key}
          onChange={event => setKey(event.currentTarget.value)}
          autoComplete="off"
        />
        <Checkbox
          label="Remember it on this device"
          checked={onDevice}
          onChange={event => setOnDevice(event.currentTarget.checked)}
        />
        <Group gap="xs">
          <Button type="submit" size="xs" disabled={!key.trim()}>
            Use this key
          </Button>
          <Button size="xs" variant="default" onClick={forget}>
            Forget the key
          </Button>
        </Group>
        <Text size="xs" c="dimmed">
          Whoever uses this browser can read a key that is remembered on it.
        </Text>
      </Stack>
    </form>
  );
}

import { Button, Checkbox, PasswordInput, Stack } from '@mantine/core';
import { useState } from 'react';
import { useEnterKey } from '@/shared/data/access';

/** Takes a key, and keeps it when the server has taken it. */
export function KeyForm({ onAccepted }: { onAccepted: () => void }) {
  const [key, setKey] = useState('');
  const [onDevice, setOnDevice] = useState(false);
  const entering = useEnterKey(onAccepted);
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        entering.mutate({ key: key.trim(), onDevice });
      }}
    >
      <Stack>
        <PasswordInput
          label="API key"
          value={key}
          onChange={event => setKey(event.currentTarget.value)}
          error={entering.error?.message}
          autoComplete="off"
          data-autofocus
        />
        <Checkbox
          label="Remember on this device"
          checked={onDevice}
          onChange={event => setOnDevice(event.currentTarget.checked)}
        />
        <Button type="submit" disabled={!key.trim()} loading={entering.isPending}>
          Continue
        </Button>
      </Stack>
    </form>
  );
}

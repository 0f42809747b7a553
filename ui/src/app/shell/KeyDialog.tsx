import { Button, Checkbox, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client, unwrap } from '@/shared/api/client';
import { dropKey, keepKey } from '@/shared/api/key';

/** Takes a key, and keeps it when the server has taken it. */
export function KeyDialog({ onAccepted }: { onAccepted: () => void }) {
  const [key, setKey] = useState('');
  const [onDevice, setOnDevice] = useState(false);
  const entering = useMutation({
    mutationFn: async () => {
      dropKey(); // a key is kept, and the page shown, when the server has taken it
      await unwrap(client.GET('/v1/models', { headers: { Authorization: `Bearer ${key.trim()}` } }));
      keepKey(key.trim(), onDevice);
    },
    onSuccess: onAccepted,
  });
  return (
    <Modal opened onClose={() => undefined} title="API key" withCloseButton={false} centered>
      <form
        onSubmit={event => {
          event.preventDefault();
          entering.mutate();
        }}
      >
        <Stack>
          <Text size="sm">This server asks for a key. Whoever runs it can tell you one (setting API_KEYS).</Text>
          <PasswordInput
            label="API key"
            value={key}
            onChange={event => setKey(event.currentTarget.value)}
            error={entering.error?.message}
            autoComplete="off"
            data-autofocus
          />
          <Checkbox
            label="Remember it on this device"
            checked={onDevice}
            onChange={event => setOnDevice(event.currentTarget.checked)}
          />
          <Button type="submit" disabled={!key.trim()} loading={entering.isPending}>
            Continue
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

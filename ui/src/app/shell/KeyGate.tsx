import { Button, Checkbox, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useReducer, useState } from 'react';
import { useAbout } from '@/shared/api/about';
import { client, unwrap } from '@/shared/api/client';
import { apiKey, dropKey, keepKey, onMissingKey } from '@/shared/api/key';

/** Asks for the API key where the server wants one, at the beginning and when a key was refused. */
export function KeyGate({ children }: { children: ReactNode }) {
  const about = useAbout();
  const [isRefused, setRefused] = useState(false);
  const [, lookAgain] = useReducer((count: number) => count + 1, 0); // where the key is kept tells nobody of a change
  const queries = useQueryClient();
  useEffect(() => onMissingKey(() => setRefused(true)), []);

  if (about.isPending) return null;
  const isMissing = about.data?.needs_key === true && apiKey() === null;
  const goOn = () => {
    setRefused(false);
    lookAgain();
    void queries.invalidateQueries();
  };
  return (
    <>
      {!isMissing && children}
      {(isMissing || isRefused) && <KeyDialog onAccepted={goOn} />}
    </>
  );
}

function KeyDialog({ onAccepted }: { onAccepted: () => void }) {
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

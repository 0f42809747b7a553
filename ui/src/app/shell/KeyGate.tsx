import { Button, Checkbox, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useAbout } from '@/shared/api/about';
import { apiKey, keepKey, onMissingKey } from '@/shared/api/key';

/** Asks for the API key where the server wants one, at the beginning and when a key was refused. */
export function KeyGate({ children }: { children: ReactNode }) {
  const about = useAbout();
  const [refused, setRefused] = useState(false);
  const queries = useQueryClient();
  useEffect(() => onMissingKey(() => setRefused(true)), []);

  const isMissing = about.data?.needs_key === true && apiKey() === null;
  const enter = (key: string, onDevice: boolean) => {
    keepKey(key, onDevice);
    setRefused(false);
    void queries.invalidateQueries();
  };
  if (about.isPending) return null;
  return (
    <>
      {!isMissing && children}
      <KeyDialog opened={isMissing || refused} wasRefused={refused && apiKey() !== null} onEnter={enter} />
    </>
  );
}

interface KeyDialogProps {
  opened: boolean;
  wasRefused: boolean;
  onEnter: (key: string, onDevice: boolean) => void;
}

function KeyDialog({ opened, wasRefused, onEnter }: KeyDialogProps) {
  const [key, setKey] = useState('');
  const [onDevice, setOnDevice] = useState(false);
  return (
    <Modal opened={opened} onClose={() => undefined} title="API key" withCloseButton={false} centered>
      <form
        onSubmit={event => {
          event.preventDefault();
          if (key.trim()) onEnter(key.trim(), onDevice);
        }}
      >
        <Stack>
          <Text size="sm">This server asks for a key. Whoever runs it can tell you one (setting API_KEYS).</Text>
          <PasswordInput
            label="API key"
            value={key}
            onChange={event => setKey(event.currentTarget.value)}
            error={wasRefused ? 'The server did not accept the last key.' : undefined}
            autoComplete="off"
            data-autofocus
          />
          <Checkbox
            label="Remember it on this device"
            checked={onDevice}
            onChange={event => setOnDevice(event.currentTarget.checked)}
          />
          <Button type="submit" disabled={!key.trim()}>
            Continue
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}

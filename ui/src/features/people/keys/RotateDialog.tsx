import { Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ErrorState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type ApiKey, useRotateKey } from '@/shared/data/apiKeys';
import { SecretDialog } from '../SecretDialog';
import { ShownKey } from './ShownKey';

const MOST_HOURS = 720;

interface RotateDialogProps {
  apiKey: ApiKey;
  /** This page calls with it. */
  isOwn: boolean;
  onClose: () => void;
}

/** Makes a key with the same rights; the former one goes on for some hours, in which apps get the new one. */
export function RotateDialog({ apiKey, isOwn, onClose }: RotateDialogProps) {
  const [hours, setHours] = useState<number | string>(24);
  const rotate = useRotateKey();
  const isHours = typeof hours === 'number' && hours >= 0 && hours <= MOST_HOURS;
  const ownNote = 'This page uses the old key until that stops working. Enter the new one in Settings.';
  const note = [isOwn ? ownNote : '', rotate.data?.warning ?? ''].filter(Boolean).join(' ');
  return (
    <SecretDialog title={rotate.data ? 'The new key' : 'Rotate the key'} isMade={rotate.isSuccess} onClose={onClose}>
      {rotate.data ? (
        <ShownKey made={rotate.data} {...(note && { note })} onClose={onClose} />
      ) : (
        <form
          onSubmit={event => {
            event.preventDefault();
            if (isHours) rotate.mutate({ id: apiKey.id, hours });
          }}
        >
          <Stack gap="md">
            <Text size="sm">
              Makes a new key with the same rights as <Words limit={80}>{apiKey.label || apiKey.id}</Words>. Both work
              for the hours below, so that you can put the new one in its place.
            </Text>
            <NumberInput
              label="Hours that the old key keeps working"
              description="0 revokes it at once."
              min={0}
              max={MOST_HOURS}
              value={hours}
              onChange={setHours}
              data-autofocus
            />
            {rotate.isError && <ErrorState error={rotate.error} title="The key was not rotated" />}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" disabled={!isHours} loading={rotate.isPending}>
                Rotate
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </SecretDialog>
  );
}

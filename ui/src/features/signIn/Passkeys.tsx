import { ActionIcon, Button, Group, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { TbFingerprint, TbTrash } from 'react-icons/tb';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import {
  type AskAgain,
  type PasskeyRecord,
  useAddPasskey,
  usePasskeys,
  useRemovePasskey,
} from '@/shared/data/account';

interface PasskeysProps {
  /** Why none can be made at this address. */
  unavailable: string | null;
  askAgain: AskAgain;
}

/** The passkeys of the person. */
export function Passkeys({ unavailable, askAgain }: PasskeysProps) {
  const passkeys = usePasskeys();
  return (
    <Stack gap="sm">
      {passkeys.isPending && <LoadingState label="Loading the passkeys" />}
      {passkeys.isError && <ErrorState error={passkeys.error} onRetry={() => void passkeys.refetch()} />}
      {passkeys.data?.length === 0 && <Text size="sm">You have no passkey yet.</Text>}
      {passkeys.data?.map(passkey => (
        <Kept key={passkey.id} passkey={passkey} />
      ))}
      {unavailable === null ? (
        <Add askAgain={askAgain} />
      ) : (
        <Text size="sm" c="dimmed">
          {unavailable}
        </Text>
      )}
    </Stack>
  );
}

function Kept({ passkey: { id, label, created_at, last_used_at } }: { passkey: PasskeyRecord }) {
  const remove = useRemovePasskey();
  const name = label || 'Passkey';
  const ask = async () => {
    const message = 'It will no longer sign you in. Remove it from your device or password manager, too.';
    if (await confirm({ title: 'Remove this passkey?', message, action: 'Remove' }))
      remove.mutate(id, { onError: error => notifyFailure('The passkey was not removed', error) });
  };
  return (
    <Group gap="sm" wrap="nowrap">
      <TbFingerprint size={20} aria-hidden />
      <div>
        <Text size="sm" fw={500}>
          <Words limit={80}>{name}</Words>
        </Text>
        <Text size="xs" c="dimmed">
          made <Time value={created_at} ago />, {last_used_at ? 'last used ' : 'never used'}
          {last_used_at && <Time value={last_used_at} ago />}
        </Text>
      </div>
      <Tooltip label="Remove">
        <ActionIcon
          ml="auto"
          variant="subtle"
          color="gray"
          aria-label={`Remove ${name}`}
          loading={remove.isPending}
          onClick={() => void ask()}
        >
          <TbTrash size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}

function Add({ askAgain }: { askAgain: AskAgain }) {
  const [label, setLabel] = useState('');
  const add = useAddPasskey(askAgain);
  return (
    <form
      onSubmit={event => {
        event.preventDefault();
        add.mutate(label.trim(), { onSuccess: () => setLabel('') });
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          label="Name of the new passkey"
          placeholder="Phone"
          maxLength={100}
          value={label}
          onChange={event => setLabel(event.currentTarget.value)}
          error={add.error?.message}
        />
        <Button type="submit" variant="default" loading={add.isPending}>
          Add a passkey
        </Button>
      </Group>
    </form>
  );
}

import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { TbPlus } from 'react-icons/tb';
import { PageFrame } from '@/shared/components/PageFrame';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useAbout } from '@/shared/data/about';
import { useMe } from '@/shared/data/access';
import { type ApiKey, useApiKeys } from '@/shared/data/apiKeys';
import { useDialog } from '@/shared/hooks/useDialog';
import { KeyTable } from './KeyTable';
import { NewKeyDialog } from './NewKeyDialog';
import { NoKeyNeeded } from './NoKeyNeeded';
import { RotateDialog } from './RotateDialog';

/** Who may call the server: its keys, what each is for, and when it was used last. */
export function KeysPage() {
  const { shown, open, close } = useDialog<'new'>();
  const needsKey = useAbout().data?.needs_key;
  return (
    <PageFrame
      title="Keys"
      actions={
        needsKey && (
          <Button size="xs" leftSection={<TbPlus size={15} aria-hidden />} onClick={() => open('new')}>
            New key
          </Button>
        )
      }
    >
      {needsKey === true && <Keys />}
      {needsKey === false && <NoKeyNeeded />}
      {shown && <NewKeyDialog onClose={close} />}
    </PageFrame>
  );
}

function Keys() {
  const me = useMe();
  const list = useApiKeys();
  const { shown, open, close } = useDialog<'rotate'>();
  const [chosen, setChosen] = useState<ApiKey | null>(null);
  if (list.isPending) return <LoadingState label="Loading the keys" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed" maw="44rem">
        Every request needs a key. Give each app and each person one of their own, so that it can be revoked alone.
        {me.key?.startsWith('settings:') &&
          ' You use a key of the server’s settings (API_KEYS); those are not listed.'}
      </Text>
      {list.keys.length === 0 ? (
        <EmptyState title="No keys yet" hint="Make the first one with New key." />
      ) : (
        <KeyTable
          keys={list.keys}
          me={me}
          onRotate={(key, opener) => {
            setChosen(key);
            open('rotate', opener);
          }}
        />
      )}
      {list.hasNextPage && (
        <Anchor component="button" type="button" size="sm" onClick={() => void list.fetchNextPage()}>
          Show more keys
        </Anchor>
      )}
      {shown && chosen && <RotateDialog apiKey={chosen} isOwn={chosen.id === me.key} onClose={close} />}
    </Stack>
  );
}

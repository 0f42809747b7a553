import { Anchor, Stack } from '@mantine/core';
import { TbKey } from 'react-icons/tb';
import { useState } from 'react';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useAbout } from '@/shared/data/about';
import { useMe } from '@/shared/data/access';
import { type ApiKey, useApiKeys } from '@/shared/data/apiKeys';
import { useDialog } from '@/shared/hooks/useDialog';
import { AppsWithoutKey } from '../AppsWithoutKey';
import { TabIntro } from '../TabIntro';
import { KeyTable } from './KeyTable';
import { NewKeyDialog } from './NewKeyDialog';
import { NoKeyNeeded } from './NoKeyNeeded';
import { RotateDialog } from './RotateDialog';

/** The keys of apps, what each is for, and when it was used last. */
export function KeysTab() {
  return useAbout().data?.needs_key === false ? <NoKeyNeeded /> : <Keys />;
}

function Keys() {
  const me = useMe();
  const list = useApiKeys();
  const { shown, open, close } = useDialog<'new' | 'rotate'>();
  const [chosen, setChosen] = useState<ApiKey | null>(null);
  const [label, setLabel] = useState('');
  const openNew = (name: string) => {
    setLabel(name);
    open('new');
  };
  if (list.isPending) return <LoadingState label="Loading the keys" />;
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <Stack gap="md">
      <TabIntro action="New key" onAction={() => openNew('')}>
        Every request of an app needs a key. Give each app one of its own, so that it can be revoked alone.
        {me.key?.startsWith('settings:') &&
          ' You use a key of the server’s settings (API_KEYS); those are not listed.'}
      </TabIntro>
      <AppsWithoutKey onMake={openNew} />
      {list.keys.length === 0 ? (
        <EmptyState Icon={TbKey} title="No keys yet" hint="Make the first one with New key." />
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
      {shown === 'new' && <NewKeyDialog label={label} onClose={close} />}
      {shown === 'rotate' && chosen && <RotateDialog apiKey={chosen} isOwn={chosen.id === me.key} onClose={close} />}
    </Stack>
  );
}

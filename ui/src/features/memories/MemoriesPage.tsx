import { ActionIcon, Button, Drawer, Menu } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import { TbCopyCheck, TbDotsVertical, TbDownload, TbFlame, TbUpload } from 'react-icons/tb';
import { notifyFailure } from '@/shared/components/notify';
import { PageFrame } from '@/shared/components/PageFrame';
import type { Owner } from './api/keys';
import { useDeleteMemories } from './api/remove';
import { useExport } from './api/transfer';
import { MemoryPanel } from './detail/MemoryPanel';
import { DuplicatesDialog } from './dialogs/DuplicatesDialog';
import { ForgetDialog } from './dialogs/ForgetDialog';
import { ImportDialog } from './dialogs/ImportDialog';
import { Found } from './list/Found';
import { Listed } from './list/Listed';
import classes from './MemoriesPage.module.css';
import { type Place, usePlace } from './place';
import { Toolbar } from './toolbar/Toolbar';

/** What is remembered of a user: looked through, put right, joined, taken along and forgotten. */
export function MemoriesPage() {
  const { place, go } = usePlace();
  const owner: Owner = { user: place.user, project: place.project };
  const remove = useDeleteMemories(owner);
  const deleteThem = (ids: string[]) => {
    remove.mutate(ids);
    if (ids.includes(place.id)) go({ id: '' }, { replace: true });
  };
  const parts = {
    place,
    owner,
    onOpen: (id: string) => go({ id }, { replace: place.id !== '' }),
    onView: (view: Place['view']) => go({ view }),
    onDelete: deleteThem,
  };
  const key = `${owner.project} ${owner.user}`;
  return (
    <PageFrame title="Memories" fill actions={<Actions owner={owner} />} toolbar={<Toolbar place={place} go={go} />}>
      <div className={classes.list}>
        {place.q && place.by === 'meaning' ? <Found key={key} {...parts} /> : <Listed key={key} {...parts} />}
      </div>
      {place.id && (
        <Opened
          owner={owner}
          id={place.id}
          onDelete={id => deleteThem([id])}
          onClose={() => go({ id: '' }, { replace: true })}
        />
      )}
    </PageFrame>
  );
}

interface OpenedProps {
  owner: Owner;
  id: string;
  onDelete: (id: string) => void;
  onClose: () => void;
}

/** Beside the list where there is room, else over it. */
function Opened(props: OpenedProps) {
  const isWide = useMediaQuery('(min-width: 62em)', undefined, { getInitialValueInEffect: false });
  if (isWide)
    return (
      // Escape closes it, whatever in it has the focus
      // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
      <aside
        className={classes.side}
        aria-label="Memory"
        onKeyDown={event => event.key === 'Escape' && props.onClose()}
      >
        <MemoryPanel key={props.id} {...props} />
      </aside>
    );
  return (
    <Drawer
      opened
      onClose={props.onClose}
      position="right"
      size="min(30rem, 100vw)"
      title="Memory"
      closeButtonProps={{ 'aria-label': 'Close the memory' }}
      classNames={{ body: classes.drawer ?? '' }}
    >
      <MemoryPanel key={props.id} {...props} onClose={null} />
    </Drawer>
  );
}

type Dialog = 'duplicates' | 'import' | 'forget';

function Actions({ owner }: { owner: Owner }) {
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const save = useExport(owner);
  const close = () => setDialog(null);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<TbCopyCheck size={15} aria-hidden />}
        onClick={() => setDialog('duplicates')}
      >
        Duplicates
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label="More" loading={save.isPending}>
            <TbDotsVertical size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<TbDownload size={16} aria-hidden />}
            onClick={() => save.mutate(undefined, { onError: error => notifyFailure('Nothing was exported', error) })}
          >
            Export
          </Menu.Item>
          <Menu.Item leftSection={<TbUpload size={16} aria-hidden />} onClick={() => setDialog('import')}>
            Import…
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            color="red.8"
            leftSection={<TbFlame size={16} aria-hidden />}
            onClick={() => setDialog('forget')}
          >
            Forget everything…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'duplicates' && <DuplicatesDialog owner={owner} onClose={close} />}
      {dialog === 'import' && <ImportDialog owner={owner} onClose={close} />}
      {dialog === 'forget' && <ForgetDialog owner={owner} onClose={close} />}
    </>
  );
}

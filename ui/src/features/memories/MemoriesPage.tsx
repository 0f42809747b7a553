import { ActionIcon, Button, Drawer, Menu } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { lazy, Suspense, useRef } from 'react';
import {
  TbAdjustments,
  TbCards,
  TbChecklist,
  TbCopyCheck,
  TbDotsVertical,
  TbDownload,
  TbFlame,
  TbHistory,
  TbPlus,
  TbUpload,
} from 'react-icons/tb';
import { AddMemoryDialog } from '@/shared/components/AddMemoryDialog';
import { ForgetMemoriesDialog } from '@/shared/components/ForgetMemoriesDialog';
import { notifyFailure } from '@/shared/components/notify';
import { PageFrame } from '@/shared/components/PageFrame';
import { LoadingState } from '@/shared/components/states';
import { ReadOnlyPart, useMay } from '@/shared/data/access';
import { useWaitingCount } from '@/shared/data/memories/proposals';
import { useExport } from '@/shared/data/memories/transfer';
import type { Scope } from '@/shared/data/scope';
import { useDialog } from '@/shared/hooks/useDialog';
import { useBatches } from './batches';
import { MemoryPanel } from './detail/MemoryPanel';
import { ChangesDialog } from './dialogs/ChangesDialog';
import { DuplicatesDialog } from './dialogs/DuplicatesDialog';
import { ImportDialog } from './dialogs/ImportDialog';
import { ReviewDialog } from './dialogs/ReviewDialog';
import { SettingsDialog } from './dialogs/SettingsDialog';
import { Found } from './list/Found';
import { Listed } from './list/Listed';
import type { ListParts } from './list/Shown';
import classes from './MemoriesPage.module.css';
import { type Place, usePlace } from './place';
import { SampleBar } from './sample/SampleBar';
import { Toolbar } from './toolbar/Toolbar';

const MapView = lazy(() => import('./map/MapView')); // only who looks at it fetches it
const WeekReview = lazy(() => import('./review/WeekReview'));
const Strip = lazy(() => import('./strip/Strip')); // the list is there before

/** What is remembered of a user: looked through, put right, joined, taken along and forgotten. */
export function MemoriesPage() {
  const { place, go } = usePlace();
  const owner: Scope = { user: place.user, project: place.project };
  const remove = useBatches(owner);
  const deleteThem = (ids: string[]) => {
    remove.mutate({ ids, delete: true });
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
    <ReadOnlyPart value={place.at !== ''}>
      <PageFrame
        title="Memories"
        fill
        actions={<Actions owner={owner} />}
        toolbar={<Toolbar place={place} go={go} />}
      >
        <div className={classes.list}>
          <SampleBar place={place} />
          <Suspense fallback={<div className={classes.strip} />}>
            <Strip key={`strip ${key}`} place={place} owner={owner} go={go} />
          </Suspense>
          <List key={key} {...parts} />
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
    </ReadOnlyPart>
  );
}

/** What was looked for, or the memories in the view that was chosen. */
function List(parts: ListParts) {
  const { place } = parts;
  if (place.q && place.by === 'meaning') return <Found {...parts} />;
  if (place.view !== 'map') return <Listed {...parts} />;
  return (
    <Suspense fallback={<LoadingState label="Loading the map" />}>
      <MapView {...parts} />
    </Suspense>
  );
}

interface OpenedProps {
  owner: Scope;
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
      closeButtonProps={{ 'aria-label': 'Close memory' }}
      classNames={{ body: classes.drawer ?? '' }}
    >
      <MemoryPanel key={props.id} {...props} onClose={null} />
    </Drawer>
  );
}

function Actions({ owner }: { owner: Scope }) {
  const { shown, open, close } = useDialog<
    'add' | 'changes' | 'review' | 'week' | 'duplicates' | 'import' | 'settings' | 'forget'
  >();
  const more = useRef<HTMLButtonElement>(null);
  const save = useExport(owner);
  const waiting = useWaitingCount(owner);
  const may = useMay();
  return (
    <>
      {may.write && (
        <Button
          size="xs"
          classNames={{ section: classes.icon ?? '' }}
          leftSection={<TbPlus size={15} aria-hidden />}
          onClick={() => open('add')}
        >
          Add a memory
        </Button>
      )}
      {may.write && (
        <>
          <Button
            size="xs"
            classNames={{ section: classes.icon ?? '' }}
            variant={waiting ? 'light' : 'default'}
            leftSection={<TbChecklist size={15} aria-hidden />}
            onClick={() => open('review')}
          >
            Review{waiting ? ` (${waiting})` : ''}
          </Button>
          <Button
            size="xs"
            classNames={{ section: classes.icon ?? '' }}
            variant="default"
            leftSection={<TbCopyCheck size={15} aria-hidden />}
            onClick={() => open('duplicates')}
          >
            Duplicates
          </Button>
        </>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon ref={more} variant="default" size={30} aria-label="More" loading={save.isPending}>
            <TbDotsVertical size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {may.write && (
            <Menu.Item leftSection={<TbCards size={16} aria-hidden />} onClick={() => open('week', more.current)}>
              The week’s review…
            </Menu.Item>
          )}
          <Menu.Item leftSection={<TbHistory size={16} aria-hidden />} onClick={() => open('changes', more.current)}>
            Changes…
          </Menu.Item>
          <Menu.Item
            leftSection={<TbDownload size={16} aria-hidden />}
            onClick={() =>
              save.mutate(undefined, { onError: error => notifyFailure('Could not export the memories', error) })
            }
          >
            Export
          </Menu.Item>
          {may.admin && (
            <>
              <Menu.Item
                leftSection={<TbUpload size={16} aria-hidden />}
                onClick={() => open('import', more.current)}
              >
                Import…
              </Menu.Item>
              <Menu.Item
                leftSection={<TbAdjustments size={16} aria-hidden />}
                onClick={() => open('settings', more.current)}
              >
                Memory settings…
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item
                color="red.8"
                leftSection={<TbFlame size={16} aria-hidden />}
                onClick={() => open('forget', more.current)}
              >
                Delete all memories…
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {shown === 'add' && <AddMemoryDialog owner={owner} onClose={close} />}
      {shown === 'settings' && <SettingsDialog owner={owner} onClose={close} />}
      {shown === 'changes' && <ChangesDialog owner={owner} onClose={close} />}
      {shown === 'review' && <ReviewDialog owner={owner} onClose={close} />}
      {shown === 'week' && (
        <Suspense>
          <WeekReview owner={owner} onClose={close} />
        </Suspense>
      )}
      {shown === 'duplicates' && <DuplicatesDialog owner={owner} onClose={close} />}
      {shown === 'import' && <ImportDialog owner={owner} onClose={close} />}
      {shown === 'forget' && <ForgetMemoriesDialog owner={owner} onClose={close} />}
    </>
  );
}

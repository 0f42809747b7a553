import { ActionIcon, Button, Menu } from '@mantine/core';
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
  TbMessageQuestion,
  TbPlus,
  TbUpload,
} from 'react-icons/tb';
import { AddMemoryDialog } from '@/shared/components/AddMemoryDialog';
import { ForgetMemoriesDialog } from '@/shared/components/ForgetMemoriesDialog';
import { notifyFailure } from '@/shared/components/notify';
import { useMay } from '@/shared/data/access';
import { useWaitingCount } from '@/shared/data/memories/proposals';
import { useExport } from '@/shared/data/memories/transfer';
import type { Scope } from '@/shared/data/scope';
import { useDialog } from '@/shared/hooks/useDialog';
import { ChangesDialog } from '../dialogs/ChangesDialog';
import { DuplicatesDialog } from '../dialogs/DuplicatesDialog';
import { ImportDialog } from '../dialogs/ImportDialog';
import { ReviewDialog } from '../dialogs/ReviewDialog';
import { SettingsDialog } from '../dialogs/SettingsDialog';
import classes from './toolbar.module.css';

const WeekReview = lazy(() => import('../review/WeekReview'));
const WouldBeRecalled = lazy(() => import('../recall/WouldBeRecalled'));

/** What can be done with all memories of a user. */
export function Actions({ owner }: { owner: Scope }) {
  const { shown, open, close } = useDialog<
    'add' | 'changes' | 'review' | 'week' | 'recall' | 'duplicates' | 'import' | 'settings' | 'forget'
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
          <Menu.Item
            leftSection={<TbMessageQuestion size={16} aria-hidden />}
            onClick={() => open('recall', more.current)}
          >
            What would be recalled for …
          </Menu.Item>
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
                color="red"
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
        <Suspense fallback={null}>
          <WeekReview owner={owner} onClose={close} onRecall={() => open('recall', more.current)} />
        </Suspense>
      )}
      {shown === 'recall' && (
        <Suspense fallback={null}>
          <WouldBeRecalled owner={owner} onClose={close} />
        </Suspense>
      )}
      {shown === 'duplicates' && <DuplicatesDialog owner={owner} onClose={close} />}
      {shown === 'import' && <ImportDialog owner={owner} onClose={close} />}
      {shown === 'forget' && <ForgetMemoriesDialog owner={owner} onClose={close} />}
    </>
  );
}

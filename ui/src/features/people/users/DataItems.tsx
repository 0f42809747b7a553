import { Menu } from '@mantine/core';
import { TbDownload, TbEraser, TbLock, TbLockOpen } from 'react-icons/tb';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { type Hold, type Subject, useExportSubject, useLiftHold } from '@/shared/data/subjects';

interface DataItemsProps {
  subject: Subject;
  hold: Hold | undefined;
  /** Who may not be erased: nobody erases themselves. */
  isOwn: boolean;
  onHold: (opener: HTMLElement) => void;
  onErase: (opener: HTMLElement) => void;
}

/** The rights of a person, in their menu: an export, an erasure, and the hold that keeps them from it. */
export function DataItems({ subject, hold, isOwn, onHold, onErase }: DataItemsProps) {
  const exporting = useExportSubject();
  const lift = useLiftHold();
  const ask = async () => {
    const message = `Its reason: ${hold?.reason ?? ''}. From then on, whatever is past its retention is deleted.`;
    if (await confirm({ title: 'Lift the hold?', message, action: 'Lift the hold' }))
      lift.mutate(subject, { onError: error => notifyFailure('The hold was not lifted', error) });
  };
  return (
    <>
      <Menu.Item
        leftSection={<TbDownload size={16} aria-hidden />}
        onClick={() =>
          exporting.mutate(subject, { onError: error => notifyFailure('The data were not exported', error) })
        }
      >
        Export data
      </Menu.Item>
      {hold ? (
        <Menu.Item leftSection={<TbLockOpen size={16} aria-hidden />} onClick={() => void ask()}>
          Lift the hold…
        </Menu.Item>
      ) : (
        <Menu.Item leftSection={<TbLock size={16} aria-hidden />} onClick={event => onHold(event.currentTarget)}>
          Hold…
        </Menu.Item>
      )}
      {!isOwn && !hold && (
        <Menu.Item
          color="red"
          leftSection={<TbEraser size={16} aria-hidden />}
          onClick={event => onErase(event.currentTarget)}
        >
          Erase data…
        </Menu.Item>
      )}
    </>
  );
}

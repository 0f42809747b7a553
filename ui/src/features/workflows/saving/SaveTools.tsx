import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { TbDeviceFloppy, TbHistory, TbRestore } from 'react-icons/tb';
import { useDialog } from '@/shared/hooks/useDialog';
import { type ConfigText, useSaving } from '@/shared/data/workflows';
import type { Draft } from '../drafts';
import { RestoreDialog } from './RestoreDialog';
import { SaveDialog } from './SaveDialog';
import classes from './Saving.module.css';

interface SaveToolsProps {
  /** The file as it is on the server. */
  file: ConfigText;
  draft: Draft | undefined;
  onDraft: (draft: Draft | undefined) => void;
  /** Called to begin again with what is on the server. */
  onDiscard: () => void;
}

/** Whether what is typed is saved, how to save it, or why that is not possible. */
export function SaveTools({ file, draft, onDraft, onDiscard }: SaveToolsProps) {
  const { data: saving } = useSaving();
  const { shown, open, close } = useDialog<'save' | 'restore'>();
  const [done, setDone] = useState('');
  const canSave = saving?.is_on === true && file.kind === 'workflows';
  const discard = () => {
    setDone('');
    onDiscard();
  };
  const finish = (what: string) => {
    onDraft(undefined);
    setDone(what);
    close();
  };
  return (
    <>
      {draft && (
        <>
          <Text size="xs" role="status" className={classes.unsaved}>
            {saving === undefined ? 'Not saved.' : canSave ? 'Not saved yet.' : whyNot(file, saving.reason)}
          </Text>
          {canSave && (
            <Button size="compact-xs" leftSection={<TbDeviceFloppy />} onClick={() => open('save')}>
              Save…
            </Button>
          )}
          <Button size="compact-xs" variant="default" leftSection={<TbRestore />} onClick={discard}>
            Discard
          </Button>
        </>
      )}
      {!draft && done && (
        <Text size="xs" role="status" c="dimmed">
          {done}
        </Text>
      )}
      {!draft && canSave && file.has_kept && (
        <Button size="compact-xs" variant="default" leftSection={<TbHistory />} onClick={() => open('restore')}>
          Earlier version…
        </Button>
      )}
      {shown === 'save' && draft && (
        <SaveDialog
          file={file}
          draft={draft}
          onSaved={() => finish('Saved. Used from the next message on.')}
          onTakeTheirs={() => {
            discard();
            close();
          }}
          onClose={close}
        />
      )}
      {shown === 'restore' && <RestoreDialog file={file} onRestored={() => finish('Restored.')} onClose={close} />}
    </>
  );
}

function whyNot(file: ConfigText, reason: string): string {
  const cause = file.kind === 'workflows' ? reason : 'Only workflows can be saved here.';
  return `Not saved: copy or download your changes. ${cause}`;
}

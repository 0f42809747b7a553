import { Button, FileInput, Group, NativeSelect, Text, Textarea } from '@mantine/core';
import type { ClipboardEvent } from 'react';
import { TbPhoto, TbPlayerPlay, TbPlayerStop } from 'react-icons/tb';
import type { ConfigOverview } from '@/shared/data/workflows';
import { useSettings } from '@/shared/settings/settings';
import { modelFor } from './modelFor';
import { TrialAnswer } from './TrialAnswer';
import classes from './TrialPanel.module.css';
import type { TrialState } from './useTrial';

interface TrialPanelProps {
  tree: ConfigOverview;
  /** The workflow that is shown. */
  file: string;
  /** What is typed in its place and may run; undefined for the file as it is. */
  typed: string | undefined;
  /** Whether what is typed is something else, which cannot run. */
  isChanged: boolean;
  trial: TrialState;
}

/** Runs a workflow on a message, without storing or remembering it. */
export function TrialPanel({ tree, file, typed, isChanged, trial }: TrialPanelProps) {
  const { user, project } = useSettings();
  const suited = modelFor(tree, file);
  const { message, pictures, answer } = trial;
  const model = trial.model ?? suited.model;
  const isRunning = answer?.state === 'running';
  const isReady = message.trim() !== '' || pictures.length > 0;
  const onPaste = (event: ClipboardEvent) => {
    const found = Array.from(event.clipboardData.files).filter(each => each.type.startsWith('image/'));
    if (!found.length) return;
    event.preventDefault();
    trial.setPictures([...pictures, ...found]);
  };

  return (
    <section className={classes.panel} aria-label="Try it">
      <form
        className={classes.form}
        onSubmit={event => {
          event.preventDefault();
          if (isRunning) trial.stop();
          else if (isReady)
            void trial.run({
              model,
              user,
              project,
              typed: typed === undefined ? undefined : { path: file, text: typed },
            });
        }}
      >
        <Group align="end" gap="xs">
          <NativeSelect
            size="xs"
            label="Ask"
            data={[...tree.models]}
            value={model}
            onChange={event => trial.setModel(event.currentTarget.value)}
          />
          <FileInput
            className={classes.pictures}
            size="xs"
            label="Pictures"
            placeholder="None"
            accept="image/*"
            multiple
            clearable
            clearButtonProps={{ 'aria-label': 'No pictures' }}
            leftSection={<TbPhoto size={16} aria-hidden />}
            value={pictures}
            onChange={trial.setPictures}
          />
          {/* one button for both, which keeps the focus */}
          <Button
            size="xs"
            type="submit"
            variant={isRunning ? 'default' : 'filled'}
            leftSection={isRunning ? <TbPlayerStop /> : <TbPlayerPlay />}
            disabled={!isRunning && !isReady}
          >
            {isRunning ? 'Stop' : 'Run'}
          </Button>
        </Group>
        <Textarea
          size="sm"
          label="Message"
          placeholder="Paste a message to run the workflow on"
          autosize
          minRows={3}
          maxRows={10}
          value={message}
          onChange={event => trial.write(event.currentTarget.value)}
          onPaste={onPaste}
        />
        <Text size="xs" c="dimmed">
          {typed !== undefined
            ? 'Runs your unsaved text, starting at this file. No files, modules or locks are touched, and nothing is kept.'
            : [
                suited.hint,
                isChanged && 'Runs the saved files, not what you typed.',
                'Nothing is stored or remembered.',
              ]
                .filter(Boolean)
                .join(' ')}
        </Text>
      </form>
      {answer && <TrialAnswer answer={answer} />}
    </section>
  );
}

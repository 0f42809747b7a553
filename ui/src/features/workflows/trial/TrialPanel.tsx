import { Alert, Button, Group, NativeSelect, Text, Textarea } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { TbPlayerPlay, TbPlayerStop } from 'react-icons/tb';
import { Markdown } from '@/shared/components/Markdown';
import { messageOf } from '@/shared/components/states';
import { useSettings } from '@/shared/settings/settings';
import { answerOfTrial } from '../api/trial';
import type { ConfigOverview } from '../api/tree';
import { modelFor } from './modelFor';
import { TrialRun } from './TrialRun';
import classes from './TrialPanel.module.css';

interface TrialPanelProps {
  tree: ConfigOverview;
  /** The workflow that is shown. */
  file: string;
}

interface Answer {
  runId: string;
  text: string;
  state: 'running' | 'finished' | 'stopped' | 'failed';
  error: string;
}

/** Runs a workflow on a message, without storing or remembering it. */
export function TrialPanel({ tree, file }: TrialPanelProps) {
  const { user, project } = useSettings();
  const suited = modelFor(tree, file);
  const [chosen, choose] = useState<string>();
  const [message, setMessage] = useState('');
  const [answer, setAnswer] = useState<Answer>();
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const model = chosen ?? suited.model;

  const run = async () => {
    const stop = (running.current = new AbortController());
    let now: Answer = { runId: '', text: '', state: 'running', error: '' };
    const show = (change: Partial<Answer>) => setAnswer((now = { ...now, ...change }));
    show({});
    try {
      for await (const piece of answerOfTrial({ model, message, user, project }, stop.signal))
        show('text' in piece ? { text: now.text + piece.text } : piece);
      show({ state: 'finished' });
    } catch (error) {
      show(stop.signal.aborted ? { state: 'stopped' } : { state: 'failed', error: messageOf(error) });
    }
  };

  const isRunning = answer?.state === 'running';
  return (
    <section className={classes.panel} aria-label="Try it">
      <form
        className={classes.form}
        onSubmit={event => {
          event.preventDefault();
          void run();
        }}
      >
        <Group align="end" gap="xs">
          <NativeSelect
            size="xs"
            label="Ask"
            data={[...tree.models]}
            value={model}
            onChange={event => choose(event.currentTarget.value)}
          />
          {isRunning ? (
            <Button
              size="xs"
              variant="default"
              leftSection={<TbPlayerStop />}
              onClick={() => running.current?.abort()}
            >
              Stop
            </Button>
          ) : (
            <Button size="xs" type="submit" leftSection={<TbPlayerPlay />} disabled={!message.trim()}>
              Run
            </Button>
          )}
        </Group>
        <Textarea
          size="sm"
          label="Message"
          placeholder="Paste a message to run the workflow on"
          autosize
          minRows={3}
          maxRows={10}
          value={message}
          onChange={event => setMessage(event.currentTarget.value)}
        />
        <Text size="xs" c="dimmed">
          {suited.hint} The files as they are on the server run, not what is changed in the editor. Nothing is stored
          or remembered.
        </Text>
      </form>
      {answer && (
        <div className={classes.answer}>
          <div aria-live="polite" aria-busy={isRunning}>
            {answer.text ? <Markdown>{answer.text}</Markdown> : isRunning && <Text c="dimmed">Running…</Text>}
          </div>
          {answer.state === 'failed' && (
            <Alert color="red" variant="light" title="The run failed" role="alert">
              {answer.error}
            </Alert>
          )}
          {answer.state === 'stopped' && <Text c="dimmed">Stopped.</Text>}
          {!isRunning && answer.runId && <TrialRun runId={answer.runId} />}
        </div>
      )}
    </section>
  );
}

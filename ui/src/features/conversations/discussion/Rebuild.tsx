import { Button, Group, Progress, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { TbRefresh } from 'react-icons/tb';
import { confirm } from '@/shared/components/confirm';
import { notifyFailure } from '@/shared/components/notify';
import { type RebuildPlan, type RebuildStep, useRebuild } from '@/shared/data/discussions/rebuild';
import classes from './Discussion.module.css';

/** Makes all memories of the discussion anew, after a question; tells how far it is, and can be stopped. */
export function Rebuild({ id }: { id: string }) {
  const [step, setStep] = useState<RebuildStep | null>(null);
  const stopping = useRef<AbortController | null>(null);
  useEffect(() => () => stopping.current?.abort(), []);
  const { mutate, isPending } = useRebuild(id);
  const start = () =>
    mutate(
      {
        agree: plan => confirm(question(plan)),
        begin: () => {
          stopping.current = new AbortController();
          setStep({ done: 0, all: 0, finished: false, notes: [] });
          return stopping.current.signal;
        },
        onStep: setStep,
      },
      {
        onError: error => {
          if (!stopping.current?.signal.aborted) notifyFailure('Could not rebuild the memories', error);
          setStep(null);
        },
      },
    );
  const isRunning = isPending && step !== null && !step.finished;
  return (
    <Group gap="xs">
      {isRunning && (
        <>
          <Progress
            className={classes.progress}
            value={step.all ? (step.done / step.all) * 100 : 0}
            aria-label="Rebuilding"
          />
          <Text size="xs" role="status">
            {step.all ? `${step.done} of ${step.all} chunks` : 'Starting'}
          </Text>
          <Button size="compact-sm" variant="default" onClick={() => stopping.current?.abort()}>
            Stop
          </Button>
        </>
      )}
      {step?.finished && (
        <Text size="xs" role="status">
          Rebuilt{step.notes.length > 0 && `: ${step.notes.join(' ')}`}
        </Text>
      )}
      {!isRunning && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<TbRefresh aria-hidden />}
          loading={isPending}
          onClick={start}
        >
          Rebuild…
        </Button>
      )}
    </Group>
  );
}

function question({ chunks, messages, tokens }: RebuildPlan) {
  return {
    title: 'Rebuild all memories of this discussion?',
    message:
      `A model processes ${chunks.toLocaleString()} chunks: ${messages.toLocaleString()} messages, about ` +
      `${tokens.toLocaleString()} tokens. The new memories replace the old ones once all are done.`,
    action: 'Rebuild',
  };
}

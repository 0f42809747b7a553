import { useEffect, useRef, useState } from 'react';
import { ApiError } from '@/shared/api/errors';
import { messageOf } from '@/shared/components/states';
import { answerOfTrial, answerOfTyped } from '@/shared/data/completions';
import type { RunWhole } from '@/shared/data/runs/run';
import { dataUrlOf } from '@/shared/files/files';

export interface Answer {
  runId: string;
  /** The run of what is typed, which is kept nowhere else. */
  run?: RunWhole;
  text: string;
  state: 'running' | 'finished' | 'stopped' | 'failed';
  error: string;
}

interface Asked {
  model: string;
  user: string;
  project: string;
  /** What is typed, where that is to run. */
  typed: { path: string; text: string } | undefined;
}

let lastMessage = ''; // it is often tried on the next workflow, too

/** What a workflow is tried on and what it answers, whether its panel is shown or not. Leaving the file ends it. */
export function useTrial() {
  const [message, setMessage] = useState(lastMessage);
  const [pictures, setPictures] = useState<File[]>([]);
  const [model, setModel] = useState<string>();
  const [answer, setAnswer] = useState<Answer>();
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);

  const run = async ({ typed, ...asked }: Asked) => {
    const { signal } = (running.current = new AbortController());
    let now: Answer = { runId: '', text: '', state: 'running', error: '' };
    const show = (change: Partial<Answer>) => setAnswer((now = { ...now, ...change }));
    show({});
    try {
      const images = await Promise.all(pictures.map(dataUrlOf));
      const trial = { ...asked, message, images };
      for await (const piece of typed ? answerOfTyped(trial, typed, signal) : answerOfTrial(trial, signal))
        if ('text' in piece) show({ text: now.text + piece.text });
        else if ('runId' in piece || 'run' in piece) show(piece);
      show({ state: 'finished' });
    } catch (error) {
      const runId = (error instanceof ApiError && error.runId) || now.runId;
      show(signal.aborted ? { state: 'stopped' } : { state: 'failed', runId, error: messageOf(error) });
    }
  };

  return {
    message,
    write: (text: string) => setMessage((lastMessage = text)),
    pictures,
    setPictures,
    /** undefined for the one that suits the workflow. */
    model,
    setModel,
    answer,
    run,
    stop: () => running.current?.abort(),
  };
}

export type TrialState = ReturnType<typeof useTrial>;

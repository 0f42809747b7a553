import { Button, NativeSelect, NumberInput, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { TbSparkles } from 'react-icons/tb';
import { notifyFailure } from '@/shared/components/notify';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { useMay } from '@/shared/data/access';
import type { Message } from '@/shared/data/conversations/messages';
import { type Strategy, useSummarise, type Window } from '@/shared/data/conversations/window';
import { useAddress } from '../address';
import { gistOf } from '@/shared/messages/content';
import { type Segment, shownSegments, threadSegments, tokensOf } from './segments';
import { looks, totalsOf } from './states';
import { TokenBar } from './TokenBar';
import { WindowTexts } from './WindowTexts';
import classes from './Window.module.css';

const strategies: { value: Strategy; label: string }[] = [
  { value: 'simple', label: 'Newest that fit' },
  { value: 'summarization', label: 'Summary and newest' },
  { value: 'hybrid', label: 'Summary, important, newest' },
];

interface WindowPanelProps {
  conversation: string;
  window: Window | undefined;
  error: unknown;
  /** The messages below, as far as they are loaded. */
  loaded: readonly Message[];
}

/** What a model would be shown: how it is chosen, how much room each message takes, what stands for the rest. */
export function WindowPanel({ conversation, window, error, loaded }: WindowPanelProps) {
  return (
    <section className={classes.panel} aria-label="Window">
      <Tools conversation={conversation} window={window} />
      {error ? <ErrorState error={error} title="Could not compute the window" /> : null}
      {!window && !error && <LoadingState label="Computing the window" />}
      {window && (
        <>
          <Bars window={window} loaded={loaded} />
          <Legend window={window} />
          <WindowTexts window={window} />
        </>
      )}
    </section>
  );
}

function Tools({ conversation, window }: { conversation: string; window: Window | undefined }) {
  const { address, change } = useAddress();
  const [budget, setBudget] = useState<number | string>(address.budget ?? '');
  const [question, setQuestion] = useState(address.question);
  const later = useDebouncedCallback(change, 400);
  const { mutate, isPending } = useSummarise(conversation, address);
  const mayWrite = useMay().write;
  const summarises = mayWrite && window !== undefined && window.strategy !== 'simple';
  return (
    <div className={classes.tools}>
      <NativeSelect
        size="xs"
        label="Strategy"
        value={address.strategy || window?.strategy}
        data={strategies}
        onChange={event => change({ strategy: event.currentTarget.value })}
      />
      <NumberInput
        size="xs"
        className={classes.tokens ?? ''}
        label="Budget in tokens"
        placeholder={window?.max_tokens.toLocaleString() ?? ''}
        min={1}
        max={1_000_000}
        step={500}
        allowDecimal={false}
        value={budget}
        onChange={value => {
          setBudget(value);
          later({ budget: value });
        }}
      />
      <TextInput
        size="xs"
        className={classes.question}
        label="Recalled for the question"
        placeholder="Type a question"
        value={question}
        onChange={event => {
          setQuestion(event.currentTarget.value);
          later({ question: event.currentTarget.value });
        }}
      />
      {summarises && (
        <Button
          size="xs"
          variant="default"
          leftSection={<TbSparkles aria-hidden />}
          loading={isPending}
          onClick={() => mutate(undefined, { onError: error => notifyFailure('Could not summarise', error) })}
        >
          Summarise
        </Button>
      )}
    </div>
  );
}

function Bars({ window, loaded }: { window: Window; loaded: readonly Message[] }) {
  const { change } = useAddress();
  const [pointed, setPointed] = useState<Segment | null>(null);
  const [shown, thread] = [shownSegments(window), threadSegments(window)];
  const total = tokensOf(thread);
  const choose = ({ first }: Segment) => {
    if (first !== null) change({ message: first });
  };
  const byId = useMemo(() => new Map(loaded.map(message => [message.id, message])), [loaded]);
  const tell = (segment: Segment) => told(segment, byId.get(segment.first ?? 0));
  return (
    <>
      <Caption name="Window" tokens={window.tokens} of={window.max_tokens} />
      <TokenBar
        label="What the window holds"
        segments={shown}
        scale={Math.max(tokensOf(shown), window.max_tokens)}
        budget={window.max_tokens}
        tell={tell}
        onPoint={setPointed}
        onChoose={choose}
      />
      <Caption name="Whole thread" tokens={total} />
      <TokenBar
        label="Status of the messages"
        segments={thread}
        scale={Math.max(total, 1)}
        tell={tell}
        onPoint={setPointed}
        onChoose={choose}
      />
      <div className={classes.detail} aria-hidden>
        {pointed && tell(pointed)}
      </div>
    </>
  );
}

function Caption({ name, tokens, of }: { name: string; tokens: number; of?: number }) {
  return (
    <div className={classes.barLabel}>
      <span>{name}</span>
      <span>
        {tokens.toLocaleString()}
        {of !== undefined && ` of ${of.toLocaleString()}`} tokens
      </span>
    </div>
  );
}

function Legend({ window }: { window: Window }) {
  return (
    <ul className={classes.legend} aria-label="Legend">
      {totalsOf(window).map(({ state, messages, tokens }) => (
        <li key={state} className={classes.legendEntry} title={looks[state].hint}>
          <span className={classes.swatch} data-state={state} aria-hidden />
          <Text span size="xs" fw={600}>
            {looks[state].name}
          </Text>
          <Text span size="xs" c="dimmed">
            {tokens.toLocaleString()} tokens
            {messages > 0 && `, ${messages.toLocaleString()} ${messages === 1 ? 'message' : 'messages'}`}
          </Text>
        </li>
      ))}
    </ul>
  );
}

function told({ state, tokens, messages, first }: Segment, message: Message | undefined): string {
  const size = `${looks[state].name}, ${tokens.toLocaleString()} tokens`;
  if (first === null) return size;
  if (messages > 1) return `${size}, ${messages.toLocaleString()} messages`;
  return message ? `${size} · ${message.role}: ${gistOf(message).slice(0, 120)}` : size;
}

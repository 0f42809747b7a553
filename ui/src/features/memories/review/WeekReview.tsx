import { Badge, Button, Group, Kbd, Modal, Progress, Stack, Text, Textarea } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { TbChecks } from 'react-icons/tb';
import { EmptyState, ErrorState, LoadingState, messageOf } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { useMay } from '@/shared/data/access';
import type { Scope } from '@/shared/data/scope';
import { ChangedWords } from '../detail/ChangedWords';
import classes from './review.module.css';
import { type Decision, useDecisions } from './useDecisions';
import { useWeek } from './useWeek';
import type { Card } from './week';

interface DialogProps {
  owner: Scope;
  onClose: () => void;
}

const KINDS: Record<Card['kind'], { name: string; about: string; color: string }> = {
  contradicts: { name: 'Contradicts', about: 'It waits: it contradicts what you said before.', color: 'orange' },
  closed: { name: 'Ended', about: 'It holds no longer: something newer took its place.', color: 'gray' },
  changed: { name: 'Changed', about: 'It has other words now.', color: 'teal' },
  learned: { name: 'Learned', about: 'It is new.', color: 'green' },
  unused: { name: 'Never recalled', about: 'It is older than 90 days, and no answer asked for it.', color: 'gray' },
};

/** What happened to the memories in the last seven days, card by card. */
export default function WeekReview({ owner, onClose, onRecall }: DialogProps & { onRecall: () => void }) {
  return (
    <Modal opened onClose={onClose} title="The week’s review" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="sm">
        <Week owner={owner} onClose={onClose} />
        <Button size="xs" variant="subtle" className={classes.recall ?? ''} onClick={onRecall}>
          What would be recalled for …
        </Button>
      </Stack>
    </Modal>
  );
}

function Week({ owner, onClose }: DialogProps) {
  const week = useWeek(owner);
  const decisions = useDecisions(owner);
  if (week.isPending) return <LoadingState label="Loading the week" />;
  if (week.isError) return <ErrorState error={week.error} onRetry={() => void week.refetch()} />;
  const done = decisions.made.length;
  const card = week.cards[done];
  const takeBack = (
    <Button
      size="xs"
      variant="subtle"
      disabled={done === 0 || !decisions.made.at(-1)?.takeBack}
      loading={decisions.isBusy}
      onClick={() => void decisions.takeBack()}
      rightSection={<Kbd size="xs">U</Kbd>}
    >
      Undo
    </Button>
  );
  if (week.cards.length === 0)
    return (
      <EmptyState
        Icon={TbChecks}
        title="Nothing to look at"
        hint="What is learned, changed or ended in the next seven days will be here."
      />
    );
  return (
    <Stack gap="sm">
      <Progress value={(done / week.cards.length) * 100} aria-label="Of the week’s review" />
      {decisions.error && (
        <Text size="sm" c="red" role="alert">
          {messageOf(decisions.error)}
        </Text>
      )}
      {card ? (
        <CardToDecide
          key={card.key}
          card={card}
          place={`${done + 1} of ${week.cards.length}`}
          decisions={decisions}
          takeBack={takeBack}
        />
      ) : (
        <Finished made={decisions.made.map(({ decision }) => decision)} takeBack={takeBack} onClose={onClose} />
      )}
    </Stack>
  );
}

interface CardProps {
  card: Card;
  place: string;
  decisions: ReturnType<typeof useDecisions>;
  takeBack: ReactNode;
}

function CardToDecide({ card, place, decisions, takeBack }: CardProps) {
  const [isEdited, setEdited] = useState(false);
  const region = useRef<HTMLElement>(null);
  const mayWrite = useMay().write;
  useEffect(() => {
    if (!isEdited) region.current?.focus();
  }, [isEdited]);
  const { name, about, color } = KINDS[card.kind];
  const isGone = card.kind === 'closed';
  const acts: { name: string; letter: string; act: () => void }[] = [
    { name: 'Keep', letter: 'K', act: () => void decisions.keep(card) },
    ...(isGone ? [] : [{ name: 'Correct', letter: 'C', act: () => setEdited(true) }]),
    ...(isGone ? [] : [{ name: 'Forget', letter: 'F', act: () => void decisions.forget(card) }]),
    ...(card.changeId ? [{ name: 'As before', letter: 'B', act: () => void decisions.revert(card) }] : []),
  ];
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLTextAreaElement) return;
    const letter = event.key.toUpperCase();
    const act = letter === 'U' ? () => void decisions.takeBack() : acts.find(one => one.letter === letter)?.act;
    if (!act || decisions.isBusy || !mayWrite) return;
    event.preventDefault();
    act();
  };
  return (
    // the letters are those of its buttons
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      ref={region}
      className={classes.card}
      aria-label={`${name}, ${place}`}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <Group justify="space-between" gap="xs">
        <Badge variant="light" color={color}>
          {name}
        </Badge>
        <Text size="xs" c="dimmed" component="span">
          {place} · <Time value={card.at} ago />
        </Text>
      </Group>
      <Text size="sm" c="dimmed">
        {about}
      </Text>
      {isEdited ? (
        <Editor
          text={card.text}
          isBusy={decisions.isBusy}
          onSave={text => void decisions.correct(card, text)}
          onCancel={() => setEdited(false)}
        />
      ) : (
        <>
          <div className={classes.words}>
            <ChangedWords before={card.before} after={isGone ? null : card.text} />
          </div>
          <Group gap="xs">
            {mayWrite &&
              acts.map(({ name: label, letter, act }, at) => (
                <Button
                  key={label}
                  size="xs"
                  variant={at === 0 ? 'filled' : 'default'}
                  disabled={decisions.isBusy}
                  onClick={act}
                  rightSection={<Kbd size="xs">{letter}</Kbd>}
                >
                  {label}
                </Button>
              ))}
            {mayWrite && takeBack}
          </Group>
        </>
      )}
    </section>
  );
}

interface EditorProps {
  text: string;
  isBusy: boolean;
  onSave: (text: string) => void;
  onCancel: () => void;
}

function Editor({ text, isBusy, onSave, onCancel }: EditorProps) {
  const [typed, setTyped] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const words = typed.trim();
  return (
    <Stack gap="xs">
      <Textarea
        ref={field}
        aria-label="Memory text"
        description="Ctrl+Enter saves."
        value={typed}
        autosize
        minRows={2}
        maxRows={10}
        maxLength={100_000}
        onChange={event => setTyped(event.currentTarget.value)}
        data-mantine-stop-propagation // Escape is for the field; the dialog stays open
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            onCancel();
          }
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && words) onSave(words);
        }}
      />
      <Group gap="xs">
        <Button size="xs" disabled={!words} loading={isBusy} onClick={() => onSave(words)}>
          Save
        </Button>
        <Button size="xs" variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}

interface FinishedProps {
  made: Decision[];
  takeBack: ReactNode;
  onClose: () => void;
}

function Finished({ made, takeBack, onClose }: FinishedProps) {
  const counted = (['kept', 'corrected', 'forgotten', 'as before'] as const)
    .map(decision => ({ decision, count: made.filter(one => one === decision).length }))
    .filter(({ count }) => count > 0)
    .map(({ decision, count }) => `${count} ${decision}`);
  return (
    <EmptyState Icon={TbChecks} title="That was the week" hint={`${counted.join(', ')}.`}>
      <Group gap="xs">
        <Button size="xs" data-autofocus onClick={onClose}>
          Done
        </Button>
        {takeBack}
      </Group>
    </EmptyState>
  );
}

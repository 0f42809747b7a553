import { UnstyledButton } from '@mantine/core';
import { Fragment, type ReactNode, useState } from 'react';
import { TbBookmark, TbBookmarkOff } from 'react-icons/tb';
import { Link } from 'react-router';
import { notifyFailure } from '@/shared/components/notify';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import type { Message } from '@/shared/data/conversations/messages';
import {
  isOpen,
  type LearnedFrom,
  type LearnedMemory,
  useLearned,
  useUndoLearned,
} from '@/shared/data/memories/learned';
import type { Place } from '@/shared/data/scope';
import classes from './LearnedLine.module.css';
import { useInSight } from './useInSight';

const MOST_SHOWN = 300; // characters of a memory

/** What was learned from a turn, below its answer: as soon as it is known, and from then on. */
export function LearnedLine({ message, place }: { message: Message; place: Place }) {
  const isInSight = useInSight();
  const { data: learned } = useLearned(place, message.id, isInSight && message.uid !== null);
  const [isNew, setNew] = useState(false);
  if (isOpen(learned) && !isNew) setNew(true);
  if (!learned) return null;
  const { state } = learned;
  if ((state === 'none' || state === 'nothing') && !learned.asks_to_forget) return null;
  const Icon = state === 'learned' || state === 'known' || isOpen(learned) ? TbBookmark : TbBookmarkOff;
  return (
    <div
      className={`${classes.line ?? ''} ${isNew && state === 'learned' ? 'arriving' : ''}`}
      data-state={state}
      aria-live={isNew ? 'polite' : undefined}
    >
      <Icon className={classes.icon} aria-hidden />
      <span>
        {told(learned)}
        {learned.state === 'learned' && learned.proposed.length > 0 && <br />}
        {learned.proposed.length > 0 && <Proposed proposed={learned.proposed} />}
        <Taking learned={learned} place={place} messageId={message.id} />
        {learned.asks_to_forget && <Forgetting />}
      </span>
    </div>
  );
}

function told(learned: LearnedFrom): ReactNode {
  const { state, error, memories, known } = learned;
  switch (state) {
    case 'waiting':
    case 'running':
      return error === null ? (
        'Looking for something to remember…'
      ) : (
        <>
          Not learned yet, retrying: <Words limit={MOST_SHOWN}>{error}</Words>
        </>
      );
    case 'failed':
      return (
        <>
          Nothing was learned: <Words limit={MOST_SHOWN}>{error ?? 'Unknown error.'}</Words>
        </>
      );
    case 'undone':
      return 'Undone: nothing from this message is remembered.';
    case 'none':
    case 'nothing':
    case 'proposed':
      return null; // said behind it
    case 'known':
      return <Known known={known} />;
    case 'learned':
      return (
        <>
          Learned: <Listed>{memories.map(memory => [memory.id, <Learned key="it" memory={memory} />])}</Listed>
          {known.length > 0 && ' · '}
          {known.length > 0 && <Known known={known} />}
        </>
      );
  }
}

function Learned({ memory: { id, event, memory, previous_memory } }: { memory: LearnedMemory }) {
  if (memory === null) return <>a deleted memory</>;
  if (event === 'DELETE')
    return (
      <>
        no longer: <Words limit={MOST_SHOWN}>{memory}</Words>
      </>
    );
  return (
    <>
      <Memory id={id} text={memory} />
      {previous_memory !== null && (
        <>
          {' (before: '}
          <Words limit={MOST_SHOWN}>{previous_memory}</Words>)
        </>
      )}
    </>
  );
}

function Proposed({ proposed }: { proposed: LearnedFrom['proposed'] }) {
  return (
    <>
      Waiting for review:{' '}
      <Listed>
        {proposed.map(({ id, event, memory }) => [
          id,
          <Fragment key="it">
            {event === 'DELETE' && 'no longer: '}
            <Words limit={MOST_SHOWN}>{memory}</Words>
          </Fragment>,
        ])}
      </Listed>
    </>
  );
}

function Known({ known }: { known: LearnedFrom['known'] }) {
  return (
    <>
      Already known: <Listed>{known.map(({ id, memory }) => [id, <Memory key="it" id={id} text={memory} />])}</Listed>
    </>
  );
}

function Memory({ id, text }: { id: string; text: string }) {
  return (
    <Link className={classes.memory} to={`/memories?id=${encodeURIComponent(id)}`}>
      <Words limit={MOST_SHOWN}>{text}</Words>
    </Link>
  );
}

function Listed({ children }: { children: [string, ReactNode][] }) {
  return children.map(([id, shown], at) => (
    <Fragment key={id}>
      {at > 0 && ' · '}
      {shown}
    </Fragment>
  ));
}

/** What a chat cannot do for a person who asks to have something forgotten. */
function Forgetting() {
  return (
    <>
      {' '}
      A chat forgets no memory.{' '}
      <Link className={classes.memory} to="/memories">
        Forget a memory
      </Link>
    </>
  );
}

interface TakingProps {
  learned: LearnedFrom;
  place: Place;
  messageId: number;
}

/** Takes it back, and takes that back: one button, so that the focus stays. */
function Taking({ learned: { state, change_id, undone_by }, place, messageId }: TakingProps) {
  const undo = useUndoLearned(place, messageId);
  const mayWrite = useMay().write;
  const isUndone = state === 'undone';
  const id = isUndone ? undone_by : change_id;
  if (id === null || !mayWrite) return null;
  const onClick = () => {
    if (undo.isPending) return;
    undo.mutate(
      { id, undoes: isUndone ? 'undo' : 'learning' },
      { onError: error => notifyFailure('Could not undo that', error) },
    );
  };
  return (
    <>
      {' '}
      <UnstyledButton className={classes.undo ?? ''} aria-disabled={undo.isPending} onClick={onClick}>
        {isUndone ? 'Learn it again' : 'Undo'}
      </UnstyledButton>
    </>
  );
}

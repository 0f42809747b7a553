import { memo } from 'react';
import { AnswerMessage } from './AnswerMessage';
import { Failure } from './Failure';
import { LiveAnswer } from './LiveAnswer';
import classes from './Message.module.css';
import { NoteMessage } from './NoteMessage';
import type { Row } from './rows';
import { SentQuestion } from './SentQuestion';
import { Unanswered } from './Unanswered';
import type { Turn } from './turns';
import type { Talk } from './useTalk';
import { UserMessage } from './UserMessage';

interface RowViewProps {
  row: Row;
  /** For the rows of a turn. */
  turn: Turn | undefined;
  talk: Talk;
  /** The conversation is being answered: nothing else can be asked in it. */
  isBusy: boolean;
}

export const RowView = memo(
  function RowView(props: RowViewProps) {
    return <div className={classes.column}>{viewOf(props)}</div>;
  },
  (before, after) =>
    before.isBusy === after.isBusy &&
    before.talk === after.talk &&
    before.turn === after.turn &&
    isSame(before.row, after.row),
);

function viewOf({ row, turn, talk, isBusy }: RowViewProps) {
  switch (row.kind) {
    case 'question':
      return turn && <SentQuestion turn={turn} />;
    case 'answer':
      return turn && <LiveAnswer turn={turn} />;
    case 'partial':
      return turn && <LiveAnswer turn={turn} isBroken />;
    case 'failure':
      return turn && <Failure turn={turn} talk={talk} />;
    case 'unanswered':
      return <Unanswered question={row.message} talk={talk} isBusy={isBusy} />;
    case 'message':
      if (row.message.role === 'user') return <UserMessage message={row.message} talk={talk} isBusy={isBusy} />;
      if (row.message.role === 'assistant')
        return <AnswerMessage message={row.message} question={row.question} talk={talk} isBusy={isBusy} />;
      return <NoteMessage message={row.message} />;
  }
}

function isSame(before: Row, after: Row): boolean {
  if (before.kind === 'message' && after.kind === 'message')
    return before.message === after.message && before.question === after.question;
  return before.kind === after.kind && before.key === after.key;
}

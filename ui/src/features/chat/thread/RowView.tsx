import { memo } from 'react';
import { AnswerMessage } from './AnswerMessage';
import { Failure } from './Failure';
import { LiveAnswer } from './LiveAnswer';
import classes from './Message.module.css';
import { NoteMessage } from './NoteMessage';
import type { Row } from './rows';
import { SentQuestion } from './SentQuestion';
import { Unanswered } from './Unanswered';
import type { Talk } from './useTalk';
import { UserMessage } from './UserMessage';

interface RowViewProps {
  row: Row;
  talk: Talk;
  /** The conversation is being answered: nothing else can be asked in it. */
  isBusy: boolean;
}

export const RowView = memo(
  function RowView({ row, talk, isBusy }: RowViewProps) {
    return <div className={classes.column}>{viewOf(row, talk, isBusy)}</div>;
  },
  (before, after) => before.isBusy === after.isBusy && before.talk === after.talk && isSame(before.row, after.row),
);

function viewOf(row: Row, talk: Talk, isBusy: boolean) {
  switch (row.kind) {
    case 'question':
      return <SentQuestion turn={row.turn} />;
    case 'answer':
      return <LiveAnswer turn={row.turn} />;
    case 'failure':
      return <Failure turn={row.turn} talk={talk} />;
    case 'unanswered':
      return <Unanswered question={row.message} talk={talk} />;
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
  if ('turn' in before && 'turn' in after) return before.turn === after.turn && before.kind === after.kind;
  return before === after;
}

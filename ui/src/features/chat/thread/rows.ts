import type { Message } from '@/shared/data/conversations/messages';
import type { Turn } from './turns';

/** What stands in the thread, one below the other. */
export type Row =
  | { key: string; kind: 'message'; message: Message; question: Message | undefined }
  | { key: string; kind: 'question' | 'answer' | 'failure' }
  | { key: string; kind: 'unanswered'; message: Message };

/** What of a turn decides which rows there are; the same while an answer grows. */
export type TurnPlace = Pick<Turn, 'question' | 'again' | 'state' | 'isKept'>;

/** The stored messages, and in place of what a turn replaces the turn itself. `isEnd`: nothing stands behind them. */
export function rowsOf(messages: Message[], turn: TurnPlace | undefined, isEnd = true): Row[] {
  if (!turn) return isEnd ? [...stored(messages), ...unanswered(messages)] : stored(messages);
  if (turn.state === 'failed' && turn.isKept) return [...stored(messages), { key: 'failure', kind: 'failure' }];
  const before = stored(upTo(messages, turn.again ?? turn.question.parentId));
  const question: Row[] = turn.again === null ? [{ key: 'question', kind: 'question' }] : [];
  const kind = turn.state === 'failed' ? 'failure' : 'answer';
  return [...before, ...question, { key: kind, kind }];
}

function upTo(messages: Message[], id: number): Message[] {
  return messages.slice(0, messages.findIndex(message => message.id === id) + 1);
}

function stored(messages: Message[]): Row[] {
  let question: Message | undefined;
  return messages.map(message => {
    if (message.role === 'user') question = message;
    return { key: String(message.id), kind: 'message', message, question };
  });
}

function unanswered(messages: Message[]): Row[] {
  const last = messages.at(-1);
  return last?.role === 'user' ? [{ key: 'unanswered', kind: 'unanswered', message: last }] : [];
}

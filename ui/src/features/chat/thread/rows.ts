import type { Message } from '@/shared/data/conversations/messages';
import { wordsOf } from '@/shared/messages/content';
import type { Turn } from './turns';

/** What stands in the thread, one below the other. */
export type Row =
  | { key: string; kind: 'message'; message: Message; question: Message | undefined }
  | { key: string; kind: 'question' | 'answer' | 'partial' | 'failure' }
  | { key: string; kind: 'unanswered'; message: Message };

/** What of a turn decides which rows there are; the same while an answer grows. */
export interface TurnPlace extends Pick<Turn, 'question' | 'again' | 'state' | 'isKept' | 'runId'> {
  /** Something of the answer has come. */
  hasText: boolean;
}

/** The stored messages, and in place of what a turn replaces the turn itself. `isEnd`: nothing stands behind them. */
export function rowsOf(messages: Message[], turn: TurnPlace | undefined, isEnd = true): Row[] {
  if (!turn) return isEnd ? [...stored(messages), ...unanswered(messages.at(-1))] : stored(messages);
  if (turn.state === 'failed' && turn.isKept) return [...kept(messages, turn), { key: 'failure', kind: 'failure' }];
  const before = upTo(messages, turn.again ?? turn.question.parentId);
  const question: Row[] =
    turn.again === null ? [...unanswered(before.at(-1)), { key: 'question', kind: 'question' }] : [];
  const kind = turn.state === 'failed' ? 'failure' : 'answer';
  return [...stored(before), ...question, { key: kind, kind }];
}

/**
 * A question that the server has stored, and what came of its answer: as stored, where that is known here, else as it
 * was on the screen when the connection broke.
 */
function kept(messages: Message[], turn: TurnPlace): Row[] {
  const { question, again, runId, hasText } = turn;
  const isAnswered = runId !== '' && messages.some(message => message.run_id === runId);
  const isThere = messages.some(message => (again === null ? isStored(message, question) : message.id === again));
  const partial: Row[] = hasText && !isAnswered ? [{ key: 'partial', kind: 'partial' }] : [];
  if (!isThere) {
    const before = upTo(messages, question.parentId);
    return [...stored(before), ...unanswered(before.at(-1)), { key: 'question', kind: 'question' }, ...partial];
  }
  return [...stored(partial.length && again !== null ? upTo(messages, again) : messages), ...partial];
}

function isStored({ role, parent_id, content }: Message, { parentId, text }: Turn['question']): boolean {
  return role === 'user' && (parent_id ?? 0) === parentId && wordsOf(content).trim() === text.trim();
}

function upTo(messages: Message[], id: number): Message[] {
  return messages.slice(0, messages.findIndex(message => message.id === id) + 1);
}

function stored(messages: Message[]): Row[] {
  let question: Message | undefined;
  return messages.flatMap((message, at): Row[] => {
    const before = messages[at - 1];
    const isNext = message.role === 'user' && before?.role === 'user'; // what was said before it has no answer
    if (message.role === 'user') question = message;
    return [...(isNext ? unanswered(before) : []), { key: String(message.id), kind: 'message', message, question }];
  });
}

function unanswered(last: Message | undefined): Row[] {
  return last?.role === 'user' ? [{ key: `unanswered ${last.id}`, kind: 'unanswered', message: last }] : [];
}

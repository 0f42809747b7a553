import { unreachable } from '@/shared/api/errors';
import { answerTo, type Question } from '@/shared/data/completions';
import { watchConnection } from '@/shared/data/connection';
import type { Threads } from '@/shared/data/conversations/thread';
import type { Thread } from '@/shared/data/conversations/threadPages';
import { wordsOf } from '@/shared/messages/content';
import { giveBack, releaseDraft } from '../composer/drafts';
import { tellOtherTabs } from './otherTabs';
import { beginTurn, endTurn, failTurn, takePiece, type Turn, turnOf } from './turns';

const LOOKS = 20; // for what the server stores behind a request that was broken off
const PAUSE_MS = 100;

/**
 * Sends a question and takes in its answer; `again` is the stored question that gets another one. While a
 * conversation is being answered nothing else is asked in it.
 */
export async function ask(threads: Threads, question: Question, again: number | null = null): Promise<void> {
  if (isBusy(turnOf(question))) return;
  const signal = beginTurn(question, again);
  const connection = watchConnection();
  try {
    for await (const piece of answerTo(question, AbortSignal.any([signal, connection.lost]))) {
      if ('runId' in piece) kept(threads, question);
      takePiece(question, piece);
    }
    await threads.refreshed(question);
    endTurn(question);
  } catch (error) {
    if (signal.aborted) await stopped(threads, question);
    else await failed(threads, question, connection.lost.aborted ? unreachable() : error);
  } finally {
    connection.unwatch();
  }
  threads.said();
  tellOtherTabs(question);
}

export function isBusy(turn: Turn | undefined): turn is Turn {
  return turn !== undefined && turn.state !== 'failed';
}

function kept(threads: Threads, question: Question): void {
  releaseDraft(question);
  threads.said({ withFiles: question.images.length > 0 });
}

/** The part of an answer that came is stored a moment after the request was broken off. */
async function stopped(threads: Threads, question: Question): Promise<void> {
  const turn = turnOf(question);
  const isThere = (thread: Thread) =>
    turn?.text ? thread.messages.some(message => message.run_id === turn.runId) : endsWith(thread, question);
  try {
    let isStored = isThere(await threads.refreshed(question));
    for (let looks = 1; looks < LOOKS && !isStored; looks += 1) {
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
      isStored = isThere(await threads.refreshed(question));
    }
    if (turn?.again && !turn.text) await threads.showBranch(question, turn.again); // the earlier answer is there
    if (isStored) releaseDraft(question);
    else if (!turn?.isKept) giveBack(question, question.text);
    endTurn(question);
  } catch (error) {
    failTurn(question, error, turn?.isKept ?? false);
  }
}

async function failed(threads: Threads, question: Question, error: unknown): Promise<void> {
  const wasKept = turnOf(question)?.isKept ?? false;
  failTurn(question, error, wasKept); // at once: a server that is away is not to be waited for
  try {
    const isKept = endsWith(await threads.refreshed(question), question) || wasKept;
    if (isKept) kept(threads, question);
    if (turnOf(question)?.error === error) failTurn(question, error, isKept);
  } catch {
    // the thread is as it was known here
  }
}

/** Whether the thread ends with this question, whatever came of it. */
function endsWith({ messages }: Thread, { parentId, text }: Question): boolean {
  const asked = messages.findLast(message => message.role === 'user');
  return (asked?.parent_id ?? 0) === parentId && asked !== undefined && wordsOf(asked.content).trim() === text.trim();
}

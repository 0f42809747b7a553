import { ApiError, isOfNetwork } from '@/shared/api/errors';
import { answerTo, answerUnderWay, type Piece, type Question } from '@/shared/data/completions';
import { type LiveAnswer, stopLiveAnswers } from '@/shared/data/conversations/liveAnswers';
import type { Threads } from '@/shared/data/conversations/thread';
import type { Thread } from '@/shared/data/conversations/threadPages';
import type { Place } from '@/shared/data/scope';
import { wordsOf } from '@/shared/messages/content';
import { keepPrompt } from '../options/chatOptions';
import { draftOf, giveBack, releaseDraft, writeDraft } from '../composer/drafts';
import { sentAgain } from '../composer/pictures';
import { picturesOf } from './content';
import { tellOtherTabs } from './otherTabs';
import { beginTurn, endTurn, failTurn, hasEnded, takePiece, type Turn, turnOf } from './turns';

const LOOKS = 20; // for what the server stores behind a request that was broken off
const PAUSE_MS = 100;
/** What is not known of a question that was asked elsewhere: it is asked with what is set here when it is tried again. */
const NOTHING_ELSE = { model: '', memoryEnabled: false, systemPrompt: '', temperature: null };

/**
 * Sends a question and takes in its answer; `again` is the stored question that gets another one. While a
 * conversation is being answered nothing else is asked in it.
 */
export async function ask(threads: Threads, question: Question, again: number | null = null): Promise<void> {
  if (isBusy(turnOf(question))) return;
  const signal = beginTurn(question, again);
  await takeIn(threads, question, answerTo(question, signal), signal, () => {
    kept(threads, question);
    tellOtherTabs(question); // they follow from here on
  });
  tellOtherTabs(question);
}

/** Takes in an answer that is under way on the server: after a reload, or of another tab. */
export async function takeUp(threads: Threads, place: Place, answer: LiveAnswer): Promise<void> {
  const isWanted = () => !isBusy(turnOf(place)) && !hasEnded(answer.run_id);
  if (!isWanted()) return;
  const { messages } = await threads.refreshed(place);
  const asked = messages.find(message => message.id === answer.question_id);
  if (!asked) return; // on another branch
  const text = wordsOf(asked.content);
  const images = await sentAgain(place, picturesOf(asked.content));
  if (!isWanted()) return;
  if (draftOf(place) === text) writeDraft(place, ''); // the page was gone before it knew that this was sent
  const question = { ...place, parentId: asked.parent_id ?? 0, text, images, ...NOTHING_ELSE };
  const signal = beginTurn(question, null, true);
  await takeIn(threads, question, answerUnderWay(place, answer, signal), signal);
}

async function takeIn(
  threads: Threads,
  question: Question,
  pieces: AsyncIterable<Piece>,
  signal: AbortSignal,
  onKept: () => void = () => undefined,
): Promise<void> {
  try {
    for await (const piece of pieces) {
      if ('runId' in piece && !turnOf(question)?.runId) onKept();
      takePiece(question, piece);
    }
    await threads.refreshed(question);
    endTurn(question);
  } catch (error) {
    if (signal.aborted || hasCode(error, 'cancelled')) await stopped(threads, question);
    else await failed(threads, question, error);
  }
  threads.said();
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}

export function isBusy(turn: Turn | undefined): turn is Turn {
  return turn !== undefined && turn.state !== 'failed';
}

function kept(threads: Threads, question: Question): void {
  releaseDraft(question);
  keepPrompt(question, ''); // the conversation has it now
  threads.said({ withFiles: question.images.length > 0 });
}

/** The part of an answer that came is stored a moment after the request was broken off. */
async function stopped(threads: Threads, question: Question): Promise<void> {
  const turn = turnOf(question);
  const isThere = (thread: Thread) =>
    turn?.text ? thread.messages.some(message => message.run_id === turn.runId) : endsWith(thread, question);
  try {
    await stopLiveAnswers(question, turn?.runId ?? '');
    let isStored = isThere(await threads.refreshed(question));
    for (let looks = 1; looks < LOOKS && !isStored; looks += 1) {
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
      await stopLiveAnswers(question, turn?.runId ?? ''); // a question that was on its way, too
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
  // at once: a server that is away is not to be waited for
  if (!hasCode(error, 'ended')) failTurn(question, error, wasKept);
  try {
    const thread = await threads.refreshed(question);
    const isKept = endsWith(thread, question) || wasKept;
    if (isKept) kept(threads, question);
    if (isOfNetwork(error) && isComplete(thread, turnOf(question))) endTurn(question);
    else if (hasCode(error, 'ended') || turnOf(question)?.error === error) failTurn(question, error, isKept);
  } catch {
    failTurn(question, error, wasKept); // the thread is as it was known here
  }
}

/** The rest of the answer came while the connection was broken. */
function isComplete({ messages }: Thread, turn: Turn | undefined): boolean {
  return messages.some(message => message.run_id === turn?.runId && message.finish_reason !== 'incomplete');
}

/** Whether the thread ends with this question, whatever came of it. */
function endsWith({ messages }: Thread, { parentId, text }: Question): boolean {
  const asked = messages.findLast(message => message.role === 'user');
  return (asked?.parent_id ?? 0) === parentId && asked !== undefined && wordsOf(asked.content).trim() === text.trim();
}

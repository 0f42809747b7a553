import { useMemo } from 'react';
import { type NavigateFunction, useNavigate } from 'react-router';
import { notifyFailure } from '@/shared/components/notify';
import type { ChatOptions, Question } from '@/shared/data/completions';
import type { Place } from '@/shared/data/scope';
import { type Threads, useThreads } from '@/shared/data/conversations/thread';
import type { Message } from '@/shared/data/conversations/messages';
import { useModel } from '@/shared/data/models';
import { type Settings, useSettings } from '@/shared/settings/settings';
import { wordsOf } from '@/shared/messages/content';
import { giveBack, holdDraft, writeDraft } from '../composer/drafts';
import { sentAgain } from '../composer/pictures';
import { moveOptions, useChatOptions } from '../options/chatOptions';
import { picturesOf } from './content';
import { newId } from './newId';
import { ask, isBusy } from './talk';
import { endTurn, stopTurn, type Turn, turnOf } from './turns';

/** What can be done in a conversation; in one without an id the first message gives it one. */
export function useTalk(conversation: string | null): Talk {
  const { user, project, memoryEnabled } = useSettings();
  const model = useModel();
  const { systemPrompt, temperature } = useChatOptions(conversation);
  const threads = useThreads();
  const navigate = useNavigate();
  return useMemo(() => {
    const settings = { user, project, model, memoryEnabled };
    return talkIn(conversation, settings, { systemPrompt, temperature }, threads, navigate);
  }, [conversation, user, project, model, memoryEnabled, systemPrompt, temperature, threads, navigate]);
}

export type Talk = ReturnType<typeof talkIn>;

function talkIn(
  conversation: string | null,
  settings: Settings,
  options: ChatOptions,
  threads: Threads,
  navigate: NavigateFunction,
) {
  const { user, project, model, memoryEnabled } = settings;
  const place: Place = { user, project, conversation: conversation ?? '' };

  const putAgain = async (message: Message, text: string, again: number | null) => {
    try {
      const images = await sentAgain(place, picturesOf(message.content));
      await ask(
        threads,
        { ...settings, ...options, ...place, parentId: message.parent_id ?? 0, text, images },
        again,
      );
    } catch (error) {
      notifyFailure('Could not load a picture of the message', error);
    }
  };

  return {
    place,
    options,
    /** A new message behind another one, 0 for the first. One that could not be sent before goes along. */
    say: (parentId: number, text: string, images: string[]) => {
      if (isBusy(turnOf(place))) return; // another tab asked a moment ago: the words stay where they were typed
      const unsent = unsentIn(place);
      const question: Question = {
        ...settings,
        ...options,
        ...place,
        parentId,
        text: [unsent?.text, text].filter(Boolean).join('\n\n'),
        images: [...(unsent?.images ?? []), ...images],
      };
      if (conversation === null) {
        question.conversation = newId();
        moveOptions(place, question);
      }
      writeDraft(place, '');
      holdDraft(question, question.text);
      if (conversation === null) void navigate(`/?conversation=${question.conversation}`);
      void ask(threads, question);
    },
    /** Another answer to a question. */
    regenerate: (question: Message) => putAgain(question, wordsOf(question.content), question.id),
    /** The question in other words, as a branch of its own. */
    edit: (question: Message, text: string) => putAgain(question, text, null),
    retry: ({ question, again }: Turn) => void ask(threads, { ...question, ...options, model, memoryEnabled }, again),
    /** A question that could not be sent goes back to where it was typed. */
    takeBack: ({ question }: Turn) => {
      giveBack(question, question.text);
      endTurn(question);
    },
    /** What went wrong is not shown any longer; the earlier answer is, where another one was asked for. */
    dismiss: async ({ question, again }: Turn) => {
      try {
        if (again !== null) await threads.showBranch(question, again);
        endTurn(question);
      } catch (error) {
        notifyFailure('Could not show the earlier answer', error);
      }
    },
    stop: () => stopTurn(place),
  };
}

function unsentIn(place: Place): Question | undefined {
  const turn = turnOf(place);
  return turn?.state === 'failed' && !turn.isKept ? turn.question : undefined;
}

import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { notifyFailure } from '@/shared/components/notify';
import { useSettings } from '@/shared/settings/settings';
import type { Question } from '../api/send';
import type { Message, Place } from '../api/thread';
import { giveBack, holdDraft, writeDraft } from '../composer/drafts';
import { sentAgain } from '../composer/pictures';
import { picturesOf, wordsOf } from './content';
import { newId } from './newId';
import { ask } from './talk';
import { endTurn, stopTurn, type Turn } from './turns';

/** What can be done in a conversation; in one without an id the first message gives it one. */
export function useTalk(conversation: string | null) {
  const { user, project, model, memoryEnabled } = useSettings();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const place: Place = { user, project, conversation: conversation ?? '' };

  const put = (parentId: number, text: string, images: string[], again: number | null = null) =>
    ask(queries, { ...place, parentId, text, images, model, memoryEnabled }, again);

  const putAgain = async (message: Message, text: string, again: number | null) => {
    try {
      const images = await sentAgain(place, picturesOf(message.content));
      await put(message.parent_id ?? 0, text, images, again);
    } catch (error) {
      notifyFailure('A picture of the message could not be loaded', error);
    }
  };

  return {
    place,
    /** A new message behind another one, 0 for the first. */
    say: (parentId: number, text: string, images: string[]) => {
      const here = conversation ?? newId();
      const question: Question = { ...place, conversation: here, parentId, text, images, model, memoryEnabled };
      writeDraft(place, '');
      holdDraft(question, text);
      if (conversation === null) void navigate(`/?conversation=${encodeURIComponent(here)}`);
      void ask(queries, question);
    },
    /** Another answer to a question. */
    regenerate: (question: Message) => putAgain(question, wordsOf(question.content), question.id),
    /** The question in other words, as a branch of its own. */
    edit: (question: Message, text: string) => putAgain(question, text, null),
    retry: ({ question, again }: Turn) => void ask(queries, { ...question, model, memoryEnabled }, again),
    /** A question that could not be sent goes back to where it was typed. */
    takeBack: ({ question }: Turn) => {
      giveBack(question, question.text);
      endTurn(question);
    },
    dismiss: ({ question }: Turn) => endTurn(question),
    stop: () => stopTurn(place),
  };
}

export type Talk = ReturnType<typeof useTalk>;

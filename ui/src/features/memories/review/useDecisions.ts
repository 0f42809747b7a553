import { useRef, useState } from 'react';
import { useDeleteMemory, useEditMemory, useRestoreMemory } from '@/shared/data/memories/change';
import { useUndo } from '@/shared/data/memories/changes';
import { useApprove, useEditProposal, useRefuse } from '@/shared/data/memories/proposals';
import type { Scope } from '@/shared/data/scope';
import { noteSeen } from './seen';
import type { Card } from './week';

export type Decision = 'kept' | 'corrected' | 'forgotten' | 'as before';

const ONCE = 'It was decided once, and can be kept or forgotten now. Keep it, and edit it in the table.';

interface Made {
  card: Card;
  decision: Decision;
  /** Not there for what nothing takes back. */
  takeBack?: () => Promise<unknown>;
}

/** What is done with cards, and the way back of the last decision. */
export function useDecisions(owner: Scope) {
  const [made, setMade] = useState<Made[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const remove = useDeleteMemory(owner);
  const restore = useRestoreMemory(owner);
  const edit = useEditMemory(owner);
  const undo = useUndo(owner);
  const approve = useApprove(owner);
  const refuse = useRefuse(owner);
  const reword = useEditProposal(owner);

  // the undo of each approval: with it the proposal is gone, and is approved again by taking the undo back
  const undone = useRef(new Map<string, string>());

  const approveCard = async ({ proposalId }: Card): Promise<() => Promise<void>> => {
    const before = undone.current.get(proposalId);
    const { id } = before === undefined ? await approve.mutateAsync(proposalId) : await undo.mutateAsync(before);
    return async () => {
      undone.current.set(proposalId, (await undo.mutateAsync(id)).id);
    };
  };
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    } finally {
      setBusy(false);
    }
  };
  const decide = (card: Card, decision: Decision, takeBack?: () => Promise<unknown>) => {
    noteSeen(owner, card.key, true);
    setMade(before => [...before, { card, decision, ...(takeBack && { takeBack }) }]);
  };
  return {
    made,
    isBusy,
    error,
    keep: (card: Card) =>
      attempt(async () => {
        if (!card.proposalId) {
          decide(card, 'kept', () => Promise.resolve());
          return;
        }
        decide(card, 'kept', await approveCard(card));
      }),
    correct: (card: Card, text: string) =>
      attempt(async () => {
        if (card.proposalId) {
          if (undone.current.has(card.proposalId)) throw new Error(ONCE);
          await reword.mutateAsync({ id: card.proposalId, memory: text });
          decide(card, 'corrected', await approveCard(card));
          return;
        }
        await edit.mutateAsync({ id: card.memoryId, memory: text });
        decide(card, 'corrected', () => edit.mutateAsync({ id: card.memoryId, memory: card.text }));
      }),
    forget: (card: Card) =>
      attempt(async () => {
        if (card.proposalId) {
          const isGone = undone.current.has(card.proposalId);
          if (!isGone) await refuse.mutateAsync(card.proposalId);
          decide(card, 'forgotten', isGone ? () => Promise.resolve() : undefined);
          return;
        }
        await remove.mutateAsync(card.memoryId);
        decide(card, 'forgotten', () => restore.mutateAsync({ id: card.memoryId }));
      }),
    /** Takes the change back that the card tells of. */
    revert: (card: Card) =>
      attempt(async () => {
        const { id } = await undo.mutateAsync(card.changeId);
        decide(card, 'as before', () => undo.mutateAsync(id));
      }),
    /** Takes the last decision back. */
    takeBack: () =>
      attempt(async () => {
        const last = made.at(-1);
        if (!last?.takeBack) return;
        await last.takeBack();
        noteSeen(owner, last.card.key, false);
        setMade(before => before.slice(0, -1));
      }),
  };
}

import { ActionIcon } from '@mantine/core';
import { TbChevronLeft, TbChevronRight } from 'react-icons/tb';
import { notifyFailure } from '@/shared/components/notify';
import { useMay } from '@/shared/data/access';
import type { Message } from '@/shared/data/conversations/messages';
import { useBranch } from '@/shared/data/conversations/thread';
import classes from './Message.module.css';

interface BranchesProps {
  message: Message;
  conversation: string;
  isBusy: boolean;
}

/** ‹2/3›, where a message has others beside it. */
export function Branches({ message, conversation, isBusy }: BranchesProps) {
  const branch = useBranch(conversation);
  const mayWrite = useMay().write; // the branch that is shown is kept with the conversation
  const { siblings } = message;
  if (siblings.length < 2) return null;
  const at = siblings.indexOf(message.id);
  const what = message.role === 'user' ? 'version' : 'answer';
  const choose = async (other: number, step: number) => {
    try {
      await branch.mutateAsync(other);
      focusOn(other, step);
    } catch (error) {
      notifyFailure('Could not show that branch', error);
    }
  };
  const button = (step: number, Icon: typeof TbChevronLeft) => {
    const other = siblings[at + step];
    return (
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={step < 0 ? `Previous ${what}` : `Next ${what}`}
        disabled={!mayWrite || other === undefined || isBusy || branch.isPending}
        data-branch={`${message.id} ${step}`}
        onClick={() => {
          if (other !== undefined) void choose(other, step);
        }}
      >
        <Icon size={16} />
      </ActionIcon>
    );
  };
  return (
    <span className={classes.branches} role="group" aria-label={`${what} ${at + 1} of ${siblings.length}`}>
      {button(-1, TbChevronLeft)}
      <span aria-hidden>
        {at + 1}/{siblings.length}
      </span>
      {button(1, TbChevronRight)}
    </span>
  );
}

/** The message that was left took the focus with it: the one in its place gets it, on the same button if it goes on. */
function focusOn(messageId: number, step: number): void {
  requestAnimationFrame(() => {
    const buttons = [step, -step].map(each =>
      document.querySelector<HTMLButtonElement>(`[data-branch="${messageId} ${each}"]`),
    );
    buttons.find(button => button && !button.disabled)?.focus();
  });
}

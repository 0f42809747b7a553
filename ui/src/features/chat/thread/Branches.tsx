import { ActionIcon } from '@mantine/core';
import { TbChevronLeft, TbChevronRight } from 'react-icons/tb';
import { notifyFailure } from '@/shared/components/notify';
import type { Message } from '../api/thread';
import { useBranch } from '../api/thread-branch';
import classes from './Message.module.css';

interface BranchesProps {
  message: Message;
  conversation: string;
  isBusy: boolean;
}

/** ‹2/3›, where a message has others beside it. */
export function Branches({ message, conversation, isBusy }: BranchesProps) {
  const branch = useBranch(conversation);
  const { siblings } = message;
  if (siblings.length < 2) return null;
  const at = siblings.indexOf(message.id);
  const what = message.role === 'user' ? 'version' : 'answer';
  const button = (step: number, Icon: typeof TbChevronLeft) => {
    const other = siblings[at + step];
    return (
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={step < 0 ? `Previous ${what}` : `Next ${what}`}
        disabled={other === undefined || isBusy || branch.isPending}
        onClick={() => {
          if (other !== undefined)
            branch.mutate(other, { onError: error => notifyFailure('That branch could not be shown', error) });
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

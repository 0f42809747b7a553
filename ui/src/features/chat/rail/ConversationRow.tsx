import { useRef, useState } from 'react';
import { Link } from 'react-router';
import { Pieces } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import { useChangeConversation } from '@/shared/data/conversations/conversation';
import type { Conversation } from '@/shared/data/conversations/list';
import { useAddressParams } from '@/shared/hooks/useAddressParams';
import { nameOf } from './nameOf';
import classes from './rail.module.css';
import { RenameField } from './RenameField';
import { RowMenu } from './RowMenu';
import { useForgetting } from './useForgetting';

const MOST_SHOWN = 200; // characters; a line has room for less

interface ConversationRowProps {
  conversation: Conversation;
  onChosen: () => void;
}

/** A conversation: a link to it, F2 to rename it, Delete to forget it, and a menu with both. */
export function ConversationRow({ conversation, onChosen }: ConversationRowProps) {
  const [isRenaming, setRenaming] = useState(false);
  const link = useRef<HTMLAnchorElement>(null);
  const { params } = useAddressParams();
  const rename = useChangeConversation(conversation.id);
  const mayWrite = useMay().write;
  const forgetting = useForgetting(conversation);
  const forget = () => void forgetting(link.current?.closest<HTMLElement>('[role=group]') ?? null);
  const isCurrent = params.get('conversation') === conversation.id;

  if (isRenaming)
    return (
      <RenameField
        name={conversation.title ?? conversation.preview}
        onDone={title => {
          setRenaming(false);
          setTimeout(() => {
            if (document.activeElement === document.body) link.current?.focus(); // it was in the field
          });
          if (title !== null) rename.mutate({ title: title || null });
        }}
      />
    );
  return (
    <div className={classes.row} data-current={isCurrent || undefined}>
      <Link
        ref={link}
        data-row
        to={{ pathname: '/', search: new URLSearchParams({ conversation: conversation.id }).toString() }}
        className={classes.link ?? ''}
        aria-current={isCurrent ? 'page' : undefined}
        onClick={onChosen}
        onKeyDown={event => {
          if (!mayWrite) return;
          if (event.key === 'F2') setRenaming(true);
          if (event.key === 'Delete') forget();
        }}
      >
        <bdi>
          <Pieces text={nameOf(conversation).slice(0, MOST_SHOWN)} />
        </bdi>
      </Link>
      <RowMenu conversation={conversation} onRename={() => setRenaming(true)} onForget={forget} />
    </div>
  );
}

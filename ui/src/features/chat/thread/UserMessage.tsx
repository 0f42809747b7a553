import { ActionIcon, Tooltip } from '@mantine/core';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { TbPencil } from 'react-icons/tb';
import { CopyButton } from '@/shared/components/CopyButton';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import type { Message } from '@/shared/data/conversations/messages';
import { wordsOf } from '@/shared/messages/content';
import { Branches } from './Branches';
import { otherFilesOf, picturesOf } from './content';
import { EditBox } from './EditBox';
import classes from './Message.module.css';
import { Pictures } from './Pictures';
import type { Talk } from './useTalk';

interface UserMessageProps {
  message: Message;
  talk: Talk;
  isBusy: boolean;
}

export function UserMessage({ message, talk, isBusy }: UserMessageProps) {
  const [isEdited, setEdited] = useState(false);
  const mayWrite = useMay().write;
  const editButton = useRef<HTMLButtonElement>(null);
  const text = wordsOf(message.content);
  const others = otherFilesOf(message.content);
  const edit = (words: string) => {
    setEdited(false);
    void talk.edit(message, words);
  };
  const leave = () => {
    flushSync(() => setEdited(false));
    editButton.current?.focus();
  };
  return (
    <article className={classes.user} aria-label="You said">
      <Pictures conversation={talk.place.conversation} urls={picturesOf(message.content)} />
      {isEdited ? (
        <EditBox text={text} isBusy={isBusy} onSend={edit} onCancel={leave} />
      ) : (
        (text || others.length > 0) && (
          <div className={classes.bubble}>
            <Words>{[text, ...others.map(name => `[${name}]`)].filter(Boolean).join('\n')}</Words>
          </div>
        )
      )}
      {!isEdited && (
        <div className={classes.actions}>
          {message.created_at && (
            <span className={classes.time}>
              <Time value={message.created_at} />
            </span>
          )}
          <CopyButton text={text} label="Copy message" />
          {mayWrite && (
            <Tooltip label="Edit message">
              <ActionIcon
                ref={editButton}
                variant="subtle"
                color="gray"
                size="sm"
                aria-label="Edit message"
                disabled={isBusy || others.length > 0}
                onClick={() => setEdited(true)}
              >
                <TbPencil size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          <Branches message={message} conversation={talk.place.conversation} isBusy={isBusy} />
        </div>
      )}
    </article>
  );
}

import { ActionIcon, Textarea, Tooltip } from '@mantine/core';
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { TbArrowUp, TbPlayerStopFilled } from 'react-icons/tb';
import { notifyFailure } from '@/shared/components/notify';
import { dataUrlOf } from '@/shared/files/files';
import { ChatOptionsButton } from '../options/ChatOptionsButton';
import type { Talk } from '../thread/useTalk';
import { AttachButton } from './AttachButton';
import classes from './Composer.module.css';
import { useDraft, writeDraft } from './drafts';
import { ModelPicker } from './ModelPicker';
import { PicturePreviews } from './PicturePreviews';
import type { AttachedPictures } from './useAttached';

interface ComposerProps {
  conversation: string | null;
  talk: Talk;
  attached: AttachedPictures;
  /** The message that the next one stands behind; null while that is not known yet. */
  parentId: number | null;
  isBusy: boolean;
}

/** Where messages are written: Enter sends, Shift+Enter begins a line. */
export function Composer({ conversation, talk, attached, parentId, isBusy }: ComposerProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  const text = useDraft(talk.place);
  const { pictures } = attached;
  const [isReading, setReading] = useState(false);
  const isReady = parentId !== null && !isBusy && !isReading && (text.trim() !== '' || pictures.length > 0);

  useEffect(() => {
    if (window.matchMedia('(pointer: fine)').matches) box.current?.focus();
  }, []);

  const send = async () => {
    if (!isReady) return;
    setReading(true);
    try {
      const images = await Promise.all(pictures.map(({ file }) => dataUrlOf(file)));
      attached.clear();
      talk.say(parentId, text, images);
    } catch (error) {
      notifyFailure('Could not read a picture', error);
    }
    setReading(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  const onPaste = (event: ClipboardEvent) => {
    if (attached.add(event.clipboardData.files)) event.preventDefault();
  };

  return (
    <form
      className={classes.composer}
      aria-label="New message"
      onSubmit={event => {
        event.preventDefault();
        if (isBusy) talk.stop();
        else void send();
      }}
    >
      <div className={classes.box}>
        <PicturePreviews attached={attached} />
        <Textarea
          ref={box}
          variant="unstyled"
          aria-label="Message"
          data-autofocus
          placeholder="Write a message"
          autosize
          minRows={1}
          maxRows={12}
          value={text}
          onChange={event => writeDraft(talk.place, event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          classNames={{ input: classes.input ?? '' }}
        />
        <div className={classes.tools}>
          <AttachButton onFiles={attached.add} />
          <ModelPicker />
          <ChatOptionsButton conversation={conversation} talk={talk} />
          <Tooltip label={isBusy ? 'Stop (Escape)' : 'Send (Enter)'}>
            <ActionIcon
              type="submit"
              className={classes.send ?? ''}
              radius="xl"
              size="lg"
              aria-label={isBusy ? 'Stop' : 'Send'}
              loading={isReading}
              aria-disabled={!isBusy && !isReady}
              data-quiet={!isBusy && !isReady}
            >
              {isBusy ? <TbPlayerStopFilled size={16} /> : <TbArrowUp size={18} />}
            </ActionIcon>
          </Tooltip>
        </div>
      </div>
    </form>
  );
}

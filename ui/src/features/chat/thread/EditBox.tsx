import { Button, Group, Stack, Textarea } from '@mantine/core';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import classes from './Message.module.css';

interface EditBoxProps {
  text: string;
  /** The conversation is being answered, as another tab may have asked: it can be sent when that is done. */
  isBusy: boolean;
  onSend: (text: string) => void;
  onCancel: () => void;
}

/** A message in place, to be said in other words: Enter sends, Escape leaves it as it is. */
export function EditBox({ text, isBusy, onSend, onCancel }: EditBoxProps) {
  const [words, setWords] = useState(text);
  const box = useRef<HTMLTextAreaElement>(null);
  // the reader asked for it a moment ago, and mostly adds something
  useEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(box.current.value.length, box.current.value.length);
  }, []);
  const isReady = !isBusy && words.trim() !== '' && words !== text;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') {
      event.stopPropagation();
      onCancel();
    }
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      if (isReady) onSend(words);
    }
  };
  return (
    <Stack gap="xs" className={classes.edit}>
      <Textarea
        ref={box}
        aria-label="Edit message"
        autosize
        minRows={2}
        maxRows={16}
        value={words}
        onChange={event => setWords(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <Group gap="xs" justify="flex-end">
        <Button size="xs" variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="xs" disabled={!isReady} onClick={() => onSend(words)}>
          Send as a new branch
        </Button>
      </Group>
    </Stack>
  );
}

import { TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import classes from './rail.module.css';

const LONGEST = 1000; // characters; the server takes no more

interface RenameFieldProps {
  name: string;
  /** Called once: with the new name, "" for none, or with null when nothing is to change. */
  onDone: (name: string | null) => void;
}

/** In place of a conversation while its name is edited. Enter and leaving it keep the name, Escape does not. */
export function RenameField({ name, onDone }: RenameFieldProps) {
  const [typed, setTyped] = useState(name);
  const isDone = useRef(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);

  const done = (value: string | null) => {
    if (isDone.current) return;
    isDone.current = true;
    onDone(value === name ? null : value);
  };
  return (
    <TextInput
      className={classes.rename ?? ''}
      size="sm"
      aria-label="Conversation name"
      value={typed}
      maxLength={LONGEST}
      ref={input}
      onChange={event => setTyped(event.currentTarget.value)}
      onBlur={() => done(typed.trim())}
      data-mantine-stop-propagation // Escape is for the field; a drawer around it stays open
      onKeyDown={event => {
        event.stopPropagation();
        if (event.key === 'Enter') done(typed.trim());
        if (event.key === 'Escape') done(null);
      }}
    />
  );
}

import { Highlight, Text } from '@mantine/core';
import { Link } from 'react-router';
import { Time } from '@/shared/components/Time';
import type { FoundMessage } from '@/shared/data/conversations/found';
import { nameOf } from './nameOf';
import classes from './rail.module.css';
import { excerpt } from './excerpt';

interface FoundMessageRowProps {
  hit: FoundMessage;
  words: string;
  onChosen: () => void;
}

/** A message that was found: the words around the hit, its conversation and when it was said. */
export function FoundMessageRow({ hit, words, onChosen }: FoundMessageRowProps) {
  const { message, conversation_id, title } = hit;
  const to = new URLSearchParams({ conversation: conversation_id, message: String(message.id) });
  return (
    <Link data-row to={`/?${to.toString()}`} className={classes.found ?? ''} onClick={onChosen}>
      <Text size="xs" c="dimmed" className={classes.foundHead}>
        <bdi className={classes.foundTitle}>
          {title === null ? roleName(message.role) : nameOf({ title, preview: '' })}
        </bdi>
        {message.created_at && <Time value={message.created_at} ago />}
      </Text>
      <bdi className={classes.foundWords}>
        <Highlight highlight={words.split(/\s+/)} size="sm" component="span" inherit>
          {excerpt(textOf(message.content), words)}
        </Highlight>
      </bdi>
    </Link>
  );
}

function roleName(role: string): string {
  return role === 'user' ? 'You' : role === 'assistant' ? 'Assistant' : role;
}

function textOf(content: FoundMessage['message']['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(part => ('text' in part ? part.text : '')).join(' ');
}

import { Text } from '@mantine/core';
import { Link } from 'react-router';
import { Excerpt } from '@/shared/components/Excerpt';
import { Time } from '@/shared/components/Time';
import type { FoundMessage } from '@/shared/data/conversations/found';
import { wordsOf } from '@/shared/messages/content';
import { plainWords } from '@/shared/text/plain';
import { nameOf } from './nameOf';
import classes from './rail.module.css';

const EXCERPT = { before: 40, length: 160 };

interface FoundMessageRowProps {
  hit: FoundMessage;
  words: string;
  onChosen: () => void;
}

/** A message that was found: the words around the hit, its conversation and when it was said. */
export function FoundMessageRow({ hit, words, onChosen }: FoundMessageRowProps) {
  const { message, conversation_id, title, preview } = hit;
  const to = new URLSearchParams({ conversation: conversation_id, message: String(message.id) });
  return (
    <Link data-row to={`/?${to.toString()}`} className={classes.found ?? ''} onClick={onChosen}>
      <Text size="xs" c="dimmed" className={classes.foundHead}>
        <bdi className={classes.foundTitle}>
          {title || preview ? nameOf({ title, preview }) : roleName(message.role)}
        </bdi>
        {message.created_at && <Time value={message.created_at} ago />}
      </Text>
      <Excerpt
        className={classes.foundWords}
        text={plainWords(wordsOf(message.content))}
        query={words}
        room={EXCERPT}
        mark={word => <mark>{word}</mark>}
      />
    </Link>
  );
}

function roleName(role: string): string {
  return role === 'user' ? 'You' : role === 'assistant' ? 'Assistant' : role;
}

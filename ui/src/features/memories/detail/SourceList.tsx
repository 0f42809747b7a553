import { Anchor, Button, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMessagesAround } from '../api/around';
import type { Owner, Source } from '../api/keys';
import classes from './detail.module.css';

const MOST_SHOWN = 600; // characters of one turn

/** The words a memory came from, and on demand what was said around them. */
export function SourceList({ owner, sources }: { owner: Owner; sources: Source[] }) {
  return (
    <section aria-label="Sources">
      <Title order={3} size="h6" mb="xs">
        Where it comes from
      </Title>
      {sources.length === 0 && (
        <Text size="sm" c="dimmed">
          No words are kept: it was imported, written by hand, or its conversation was forgotten.
        </Text>
      )}
      <ul className={classes.sources}>
        {sources.map((source, at) => (
          <li key={`${source.event_id} ${at}`}>
            <OneSource owner={owner} source={source} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneSource({ owner, source }: { owner: Owner; source: Source }) {
  const [isOpen, setOpen] = useState(false);
  const { session, message_id } = source;
  return (
    <figure className={classes.source}>
      <figcaption>
        <span>{source.name ?? source.role}</span>
        {source.timestamp && <Time value={source.timestamp} />}
      </figcaption>
      {isOpen && session && message_id ? (
        <Around owner={owner} conversation={session} messageId={message_id} />
      ) : (
        <blockquote>
          <Words limit={MOST_SHOWN}>{source.content}</Words>
        </blockquote>
      )}
      {session && message_id && (
        <div className={classes.sourceActions}>
          <Button size="compact-xs" variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'These words alone' : 'What was said around it'}
          </Button>
          <Anchor
            size="xs"
            component={Link}
            to={`/conversations?id=${encodeURIComponent(session)}&message=${message_id}`}
          >
            Open in the conversation
          </Anchor>
        </div>
      )}
    </figure>
  );
}

interface AroundProps {
  owner: Owner;
  conversation: string;
  messageId: number;
}

function Around({ owner, conversation, messageId }: AroundProps) {
  const around = useMessagesAround(owner, conversation, messageId, true);
  if (around.isPending) return <LoadingState label="Loading the conversation" />;
  if (around.isError) return <ErrorState error={around.error} onRetry={() => void around.refetch()} />;
  if (around.data.length === 0)
    return (
      <Text size="sm" c="dimmed">
        It is on another branch or far back: open it in the conversation.
      </Text>
    );
  return (
    <ol className={classes.around}>
      {around.data.map(message => (
        <li key={message.id} data-source={message.id === messageId || undefined}>
          <Text size="xs" c="dimmed">
            {message.name ?? message.role}
          </Text>
          <Words limit={MOST_SHOWN}>{textOf(message.content)}</Words>
        </li>
      ))}
    </ol>
  );
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) =>
      typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? part.text : '…',
    )
    .join(' ');
}

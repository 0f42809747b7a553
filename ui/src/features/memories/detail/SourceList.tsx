import { Anchor, Button, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { useMessagesAround } from '@/shared/data/conversations/messages';
import type { Source } from '@/shared/data/memories/details';
import type { Scope } from '@/shared/data/scope';
import classes from './detail.module.css';
import { sourceGroups, type SourceGroup } from './sourceGroups';

const MOST_SHOWN = 600; // characters of one turn

/** The words a memory came from, and on demand what was said around them. */
export function SourceList({ owner, sources }: { owner: Scope; sources: Source[] }) {
  return (
    <section aria-label="Sources">
      <Title order={3} size="h6" mb="xs">
        Sources
      </Title>
      {sources.length === 0 && (
        <Text size="sm" c="dimmed">
          No source text: it was imported, added by hand, or its conversation was deleted.
        </Text>
      )}
      <ul className={classes.sources}>
        {sourceGroups(sources).map(group => (
          <li key={group.eventId} className={classes.source}>
            <Passage owner={owner} group={group} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Passage({ owner, group }: { owner: Scope; group: SourceGroup }) {
  const [isOpen, setOpen] = useState(false);
  const { session, messageIds, turns } = group;
  const [first] = messageIds;
  if (session === null || first === undefined)
    return (
      <Said messages={turns.map((turn, at) => ({ id: at, name: turn.name, role: turn.role, text: turn.content }))} />
    );
  return (
    <>
      {isOpen ? (
        <Around owner={owner} conversation={session} messageIds={messageIds} />
      ) : (
        <Said
          messages={turns.map((turn, at) => ({ id: at, name: turn.name, role: turn.role, text: turn.content }))}
        />
      )}
      <div className={classes.sourceActions}>
        <Button size="compact-xs" variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide context' : 'Show context'}
        </Button>
        <Anchor size="xs" component={Link} to={`/conversations?id=${encodeURIComponent(session)}&message=${first}`}>
          Open conversation
        </Anchor>
      </div>
    </>
  );
}

interface AroundProps {
  owner: Scope;
  conversation: string;
  messageIds: number[];
}

function Around({ owner, conversation, messageIds }: AroundProps) {
  const around = useMessagesAround(owner, conversation, messageIds);
  if (around.isPending) return <LoadingState label="Loading conversation" />;
  if (around.isError) return <ErrorState error={around.error} onRetry={() => void around.refetch()} />;
  if (around.data.length === 0)
    return (
      <Text size="sm" c="dimmed">
        It is on another branch or far back: open the conversation to see it.
      </Text>
    );
  return (
    <Said
      messages={around.data.map(({ id, name, role, content }) => ({
        id,
        name,
        role,
        text: textOf(content),
        isSource: messageIds.includes(id),
      }))}
    />
  );
}

interface SaidMessage {
  id: number;
  name?: string | null | undefined;
  role: string;
  text: string;
  isSource?: boolean;
}

function Said({ messages }: { messages: SaidMessage[] }) {
  return (
    <ol className={classes.said}>
      {messages.map(message => (
        <li key={message.id} data-source={message.isSource || undefined}>
          <Text size="xs" c="dimmed">
            {message.name ?? message.role}
          </Text>
          <Words limit={MOST_SHOWN}>{message.text}</Words>
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

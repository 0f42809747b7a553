import { ActionIcon, Badge, Group, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { TbTrash } from 'react-icons/tb';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { ChunkSummary, DiscussionRecord } from '@/shared/data/discussions/discussion';
import classes from './Discussion.module.css';

interface SummaryCardProps {
  summary: ChunkSummary;
  onForget?: () => void;
}

export function SummaryCard({ summary, onForget }: SummaryCardProps) {
  return (
    <Card
      facts={
        <>
          Chunk {summary.number}
          {summary.messages !== null && ` · ${summary.messages === 1 ? '1 message' : `${summary.messages} messages`}`}
          {summary.created_at && (
            <>
              {' · '}
              <Time value={summary.created_at} />
            </>
          )}
          <Maker name={summary.made_by} />
        </>
      }
      mark={
        summary.stale_since && (
          <Tooltip label="Its text is no longer in the conversation, so prompts leave it out">
            <Badge size="xs" variant="default" className={classes.stale}>
              stale since <Time value={summary.stale_since} />
            </Badge>
          </Tooltip>
        )
      }
      onForget={onForget}
      forget="Forget this chunk"
      source={summary.source}
    >
      <Words limit={3000}>{summary.text}</Words>
    </Card>
  );
}

interface RecordCardProps {
  record: DiscussionRecord;
  /** None for a record of another program, whose chunk is not known. */
  onForget?: () => void;
}

export function RecordCard({ record, onForget }: RecordCardProps) {
  const { title, key_phrases: phrases, entities } = record.metadata;
  return (
    <Card
      facts={
        <>
          {record.created_at && <Time value={record.created_at} />}
          <Maker name={record.made_by} />
        </>
      }
      onForget={onForget}
      forget="Forget this record"
      source={record.source}
    >
      {typeof title === 'string' && title && (
        <Text fw={550} size="sm">
          <Words limit={300}>{title}</Words>
        </Text>
      )}
      <Words limit={3000}>{record.text}</Words>
      <Group gap={4} mt={4}>
        {[...textsOf(entities), ...textsOf(phrases)].slice(0, 24).map((word, at) => (
          <Badge key={at} size="xs" variant="default" className={classes.tag}>
            <Words limit={60}>{word}</Words>
          </Badge>
        ))}
      </Group>
    </Card>
  );
}

interface CardProps {
  facts: ReactNode;
  mark?: ReactNode;
  forget: string;
  onForget?: (() => void) | undefined;
  source: { role: string; content: string }[] | null | undefined;
  children: ReactNode;
}

function Card({ facts, mark, forget, onForget, source, children }: CardProps) {
  return (
    <article className={classes.card}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Group gap="xs" className={classes.facts}>
          <Text span size="xs" c="dimmed">
            {facts}
          </Text>
          {mark}
        </Group>
        {onForget && (
          <Tooltip label={forget}>
            <ActionIcon variant="subtle" color="gray" size="sm" aria-label={`${forget}…`} onClick={onForget}>
              <TbTrash aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
      {children}
      {source && source.length > 0 && (
        <details className={classes.source}>
          <summary>{source.length === 1 ? 'From 1 message' : `From  ${source.length} messages`}</summary>
          {source.map((message, at) => (
            <div key={at} className={classes.said}>
              <b>{message.role}</b> <Words limit={2000}>{message.content}</Words>
            </div>
          ))}
        </details>
      )}
    </article>
  );
}

function Maker({ name }: { name: string | null }) {
  return (
    name && (
      <>
        {' · by '}
        <Words limit={120}>{name}</Words>
      </>
    )
  );
}

/** Texts of a member that anybody may have written. */
function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(each => typeof each === 'string') : [];
}

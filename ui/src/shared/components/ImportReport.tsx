import { Alert, List, Text } from '@mantine/core';
import type { ImportedConversations } from '@/shared/data/conversations/import';
import { Words } from './Words';

const MOST_NAMED = 5;
const WHY: Record<string, string> = {
  exists: 'you have it already',
  unfinished: 'it is there from an import that was cut',
};

interface ImportReportProps {
  title: string;
  report: ImportedConversations;
  color?: string;
}

/** What conversations come of a file, or came, and what does not. */
export function ImportReport({ title, report, color = 'gray' }: ImportReportProps) {
  const { conversations, messages, skipped, left_out } = report;
  return (
    <Alert color={color} variant="light" title={title} role="status">
      {conversations.toLocaleString()} {conversations === 1 ? 'conversation' : 'conversations'} with{' '}
      {messages.toLocaleString()} {messages === 1 ? 'message' : 'messages'}
      {skipped.length > 0 && `; ${skipped.length.toLocaleString()} skipped:`}
      {skipped.length > 0 && (
        <List size="xs" mt={4}>
          {skipped.slice(0, MOST_NAMED).map(({ id, title, why }) => (
            <List.Item key={`${id} ${title}`}>
              <Words limit={80}>{title || id}</Words>: <Words limit={200}>{WHY[why] ?? why}</Words>
            </List.Item>
          ))}
          {skipped.length > MOST_NAMED && <List.Item>and {skipped.length - MOST_NAMED} more</List.Item>}
        </List>
      )}
      <LeftOut counts={left_out} kept="conversations" />
    </Alert>
  );
}

interface LeftOutProps {
  counts: Record<string, number>;
  kept: 'conversations' | 'memories';
}

/** What of a file has no place among what is kept of it, by kind. */
export function LeftOut({ counts, kept }: LeftOutProps) {
  const told = Object.entries(counts).map(([kind, count]) => `${count.toLocaleString()} of ${kind}`);
  if (told.length === 0) return null;
  return (
    <Text size="xs" mt={4}>
      Left out, as {kept} have no place for it: {told.join(', ')}.
    </Text>
  );
}

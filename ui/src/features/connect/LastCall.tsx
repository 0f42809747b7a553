import { Group, Text, VisuallyHidden } from '@mantine/core';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { ClientKind, ClientSeen } from './api/clients';
import classes from './LastCall.module.css';

interface LastCallProps {
  /** Who called last comes first. */
  seen: ClientSeen[];
  kinds: ClientKind[];
  name: string;
}

/** When a client of these kinds called last, and how; looks alive from the first call on. */
export function LastCall({ seen, kinds, name }: LastCallProps) {
  const last = seen.find(client => kinds.includes(client.kind));
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" className={classes.mark} data-live={last !== undefined}>
      <span className={classes.dot} aria-hidden />
      {last ? (
        <Text size="sm" component="p" m={0}>
          Last call seen: <Time value={last.last_at} ago /> ({last.route}), model{' '}
          <Words limit={80}>{last.model}</Words>, {last.memory ? 'with memory' : 'without memory'}.{' '}
          {calls(last.count)} since the server was started.
        </Text>
      ) : (
        <Text size="sm" component="p" m={0} c="dimmed">
          No call seen since the server was started. This changes by itself when one arrives.
        </Text>
      )}
      <VisuallyHidden aria-live="polite">{last ? `Calls from ${name} arrive.` : ''}</VisuallyHidden>
    </Group>
  );
}

export function calls(count: number): string {
  return count === 1 ? '1 call' : `${count.toLocaleString()} calls`;
}

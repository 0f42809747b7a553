import { Group, Text, VisuallyHidden } from '@mantine/core';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { ClientKind, ClientSeen } from '@/shared/data/status';
import classes from './LastCall.module.css';

interface LastCallProps {
  /** Who called last comes first. */
  seen: ClientSeen[];
  kinds: ClientKind[];
  /** What also says of itself what others say too, and how it would be told for sure. */
  perhaps?: Perhaps | undefined;
  name: string;
}

export interface Perhaps {
  kind: ClientKind;
  because: string;
}

/** When a client of these kinds called last, and how; looks alive from the first call on. */
export function LastCall({ seen, kinds, perhaps, name }: LastCallProps) {
  const last = seen.find(client => kinds.includes(client.kind));
  const other = last ? undefined : seen.find(client => client.kind === perhaps?.kind);
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start" className={classes.mark} data-live={last !== undefined}>
      <span className={classes.dot} aria-hidden />
      {last ? (
        <Text size="sm" component="p" m={0}>
          Last call: <Call client={last} />
        </Text>
      ) : other ? (
        <Text size="sm" component="p" m={0}>
          Possibly {name}: <Call client={other} /> {perhaps?.because}
        </Text>
      ) : (
        <Text size="sm" component="p" m={0} c="dimmed">
          No calls since the server started. This updates when one arrives.
        </Text>
      )}
      <VisuallyHidden aria-live="polite">{last ? `Receiving calls from ${name}.` : ''}</VisuallyHidden>
    </Group>
  );
}

function Call({ client }: { client: ClientSeen }) {
  return (
    <>
      <Time value={client.last_at} ago /> ({client.route})
      {client.model !== null && (
        <>
          , model <Words limit={80}>{client.model}</Words>, {client.memory ? 'with memory' : 'without memory'}
        </>
      )}
      . {calls(client.count)} since the server started.
    </>
  );
}

function calls(count: number): string {
  return count === 1 ? '1 call' : `${count.toLocaleString()} calls`;
}

import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { notifyFailure } from '@/shared/components/notify';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { type SessionRecord, useEndSession, useSessions } from '@/shared/data/account';
import { browserOf } from './browserOf';

/** Every browser in which the person is signed in; each but this one can be ended. */
export function Sessions() {
  const sessions = useSessions();
  return (
    <Stack gap="sm">
      {sessions.isPending && <LoadingState label="Loading the sessions" />}
      {sessions.isError && <ErrorState error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {sessions.data?.map(session => (
        <Session key={session.id} session={session} />
      ))}
    </Stack>
  );
}

function Session({ session: { id, agent, address, last_seen_at, is_current } }: { session: SessionRecord }) {
  const end = useEndSession();
  const name = browserOf(agent);
  return (
    <Group gap="sm" wrap="nowrap">
      <div>
        <Text size="sm" fw={500}>
          <Words limit={80}>{name}</Words>
        </Text>
        <Text size="xs" c="dimmed">
          {address && `${address}, `}last seen <Time value={last_seen_at} ago />
        </Text>
      </div>
      {is_current ? (
        <Badge ml="auto" variant="light" tt="none" fw={600} autoContrast>
          this browser
        </Badge>
      ) : (
        <Button
          ml="auto"
          size="compact-sm"
          variant="default"
          aria-label={`End the session in ${name}`}
          loading={end.isPending}
          onClick={() => end.mutate(id, { onError: error => notifyFailure('The session did not end', error) })}
        >
          End
        </Button>
      )}
    </Group>
  );
}

import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { TbAlertCircle } from 'react-icons/tb';
import { Link } from 'react-router';
import { ApiError, isOfNetwork } from '@/shared/api/errors';
import { messageOf } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import type { Turn } from './turns';
import type { Talk } from './useTalk';

interface FailureProps {
  turn: Turn;
  talk: Talk;
}

/** Why there is no answer, in place of it, and what to do next. */
export function Failure({ turn, talk }: FailureProps) {
  const runId = turn.runId || (turn.error instanceof ApiError && turn.error.runId);
  return (
    <Alert color="red" variant="light" role="alert" icon={<TbAlertCircle aria-hidden />} title={titleOf(turn)}>
      <Stack gap="xs">
        <Text size="sm" component="div">
          <Words limit={2_000}>{messageOf(turn.error)}</Words>
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={() => talk.retry(turn)}>
            {isOfNetwork(turn.error) && turn.isKept ? 'Ask again' : 'Try again'}
          </Button>
          {turn.isKept ? (
            <Button size="xs" variant="subtle" color="gray" onClick={() => void talk.dismiss(turn)}>
              {turn.again === null ? 'Dismiss' : 'Back to the earlier answer'}
            </Button>
          ) : (
            <Button size="xs" variant="subtle" color="gray" onClick={() => talk.takeBack(turn)}>
              Edit and resend
            </Button>
          )}
          {runId && (
            <Button
              component={Link}
              to={`/runs?id=${encodeURIComponent(runId)}`}
              size="xs"
              variant="subtle"
              color="gray"
            >
              Open run
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

function titleOf({ isKept, text }: Turn): string {
  if (!isKept) return 'The message was not sent';
  return text ? 'The answer was cut off' : 'No answer';
}

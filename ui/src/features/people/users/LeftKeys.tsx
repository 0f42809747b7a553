import { Button, Group, Stack, Text } from '@mantine/core';
import { ErrorState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { useRevokeKey } from '@/shared/data/apiKeys';
import { type Left, useWithdraw } from '@/shared/data/users';
import { whose } from '../grants';

/** Valid keys and open invitations, each with the button that ends it. */
export function LeftKeys({ left }: { left: Left }) {
  return (
    <Stack gap="xs">
      {left.live_keys.map(key => (
        <Ending
          key={key.id}
          words={`Key ${key.id}${key.label && ` (${key.label})`}: ${key.role}, ${whose(key)}`}
          name={`Revoke ${key.id}`}
          action="Revoke"
          ending={useRevokeKey}
          id={key.id}
        />
      ))}
      {left.open_invitations.map(({ id, name, role }) => (
        <Ending
          key={id}
          words={`Invitation of ${name ?? 'somebody'}: ${role}`}
          name={`Take back ${id}`}
          action="Take back"
          ending={useWithdraw}
          id={id}
        />
      ))}
    </Stack>
  );
}

interface EndingProps {
  words: string;
  name: string;
  action: string;
  ending: typeof useRevokeKey | typeof useWithdraw;
  id: string;
}

function Ending({ words, name, action, ending: useEnding, id }: EndingProps) {
  const end = useEnding();
  return (
    <>
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">
          <Words limit={300}>{words}</Words>
        </Text>
        {end.isSuccess ? (
          <Text size="sm" c="dimmed" role="status">
            ended
          </Text>
        ) : (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={name}
            loading={end.isPending}
            onClick={() => end.mutate(id)}
          >
            {action}
          </Button>
        )}
      </Group>
      {end.isError && <ErrorState error={end.error} title="Could not revoke it" />}
    </>
  );
}

import { Button, Group, Text } from '@mantine/core';
import { ErrorState } from '@/shared/components/states';
import { zoneHere } from '@/shared/api/zone';
import { useAuth } from '@/shared/data/access';
import { useSetTimeZone } from '@/shared/data/account';

/** The person's time zone, and that of this browser to be taken for it. */
export function TimeZone() {
  const zone = useAuth().data?.user?.time_zone ?? null;
  const set = useSetTimeZone();
  const here = zoneHere();
  return (
    <>
      {set.isError && <ErrorState error={set.error} title="The time zone was not changed" />}
      <Text size="sm">{zone ?? 'Not set: the server’s is used, unless an app sends one.'}</Text>
      <Group gap="xs">
        {zone !== here && (
          <Button size="xs" variant="default" loading={set.isPending} onClick={() => set.mutate(here)}>
            Use {here}
          </Button>
        )}
        {zone !== null && (
          <Button size="xs" variant="default" loading={set.isPending} onClick={() => set.mutate(null)}>
            Forget it
          </Button>
        )}
      </Group>
    </>
  );
}

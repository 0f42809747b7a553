import { Anchor, Text } from '@mantine/core';
import { zoneHere } from '@/shared/api/zone';
import { notifyFailure } from '@/shared/components/notify';
import { useAuth } from '@/shared/data/access';
import { useSetTimeZone } from '@/shared/data/account';
import { storedText } from '@/shared/settings/storage';

const answered = storedText('mnemoir.timeZoneOffered');

/** Offers once to say where the person lives, for other apps, which do not tell it. */
export function TimeZoneOffer() {
  const user = useAuth().data?.user;
  const isAnswered = answered.use() !== null;
  const set = useSetTimeZone();
  if (!user || user.time_zone !== null || isAnswered) return null;
  const here = zoneHere();
  const take = () => {
    set.mutate(here, {
      onSuccess: () => answered.write('yes'),
      onError: error => notifyFailure('Could not save the time zone', error),
    });
  };
  return (
    <Text c="dimmed" size="sm" role="group" aria-label="Time zone">
      Read days such as “tomorrow” in {here}, from your other apps too?{' '}
      <Anchor component="button" type="button" inherit underline="always" onClick={take}>
        Yes
      </Anchor>{' '}
      <Anchor component="button" type="button" inherit underline="always" onClick={() => answered.write('no')}>
        No
      </Anchor>
    </Text>
  );
}

import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { TbTrash } from 'react-icons/tb';
import { notifyFailure } from '@/shared/components/notify';
import { useMay } from '@/shared/data/access';
import { SAMPLE_USER, useRemoveSample, useSampleState } from '@/shared/data/memories/sample';
import { useSettings } from '@/shared/settings/settings';
import { type Place, usePlace } from '../place';
import classes from './sample.module.css';

/** Above the sample memory: that it is one, and how it goes again. Nothing above any other. */
export function SampleBar({ place }: { place: Place }) {
  const { go } = usePlace();
  const { user } = useSettings();
  const isThere = useSampleState(place.project, place.user === SAMPLE_USER).data?.state === 'there';
  const remove = useRemoveSample(place.project);
  const mayRemove = useMay().admin;
  if (place.user !== SAMPLE_USER || !isThere) return null;
  return (
    <Group className={classes.bar} gap="xs" role="note" aria-label="Sample memory">
      <Text size="sm" className={classes.words}>
        A sample: Nora, and all that is known of her, is invented. Your own chats do not see it.
      </Text>
      {mayRemove && (
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<TbTrash size={15} aria-hidden />}
          loading={remove.isPending}
          onClick={() =>
            remove.mutate(undefined, {
              onSuccess: () => {
                notifications.show({ message: 'The sample memory was removed' });
                go({ user, id: '', q: '' });
              },
              onError: error => notifyFailure('Could not remove the sample', error),
            })
          }
        >
          Remove the sample
        </Button>
      )}
    </Group>
  );
}

import { Button } from '@mantine/core';
import { ApiError } from '@/shared/api/errors';
import { notifyFailure } from '@/shared/components/notify';
import { useMe } from '@/shared/data/access';
import { SAMPLE_USER, useSampleState, useStoreSample } from '@/shared/data/memories/sample';
import { useProjects } from '@/shared/data/projects';
import { usePlace } from '../place';

/** On a server without any memories: a sample memory to look at. Nothing for who sees one user's memories alone. */
export function TrySample({ project }: { project: string }) {
  const { go } = usePlace();
  const { may, user } = useMe();
  const projects = useProjects().data;
  const isFree = may.admin && user === null;
  const users = projects?.flatMap(each => each.users.map(one => one.user_id));
  const isEmpty = users?.every(name => name === SAMPLE_USER) === true;
  const state = useSampleState(project, isFree && isEmpty).data?.state;
  const store = useStoreSample(project);
  const show = () => go({ user: SAMPLE_USER });
  const failed = (error: unknown) => {
    if (error instanceof ApiError && error.code === 'sample_there')
      show(); // stored by a second click, or elsewhere
    else notifyFailure('Could not store the sample memory', error);
  };
  if (!isFree || !isEmpty) return null; // what was asked before one knew who calls
  if (state === 'there')
    return (
      <Button size="xs" onClick={show}>
        Open the sample memory
      </Button>
    );
  if (state !== 'none') return null;
  return (
    <Button
      size="xs"
      loading={store.isPending}
      onClick={() => store.mutate(undefined, { onSuccess: show, onError: failed })}
    >
      Try it with a sample memory
    </Button>
  );
}

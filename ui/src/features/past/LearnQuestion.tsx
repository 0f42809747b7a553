import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { ErrorState, LoadingState } from '@/shared/components/states';
import { Words } from '@/shared/components/Words';
import { type LearningEstimate, useEstimate, useLearn } from '@/shared/data/imports';
import { counted } from './programs';

interface LearnQuestionProps {
  id: string;
  onClose: () => void;
}

/** Says how many calls of which model learning takes, and begins it when the person agrees. */
export function LearnQuestion({ id, onClose }: LearnQuestionProps) {
  const estimate = useEstimate(id);
  const learn = useLearn();
  if (estimate.isPending) return <LoadingState label="Counting what there is to learn from" />;
  if (estimate.isError) return <ErrorState error={estimate.error} onRetry={() => void estimate.refetch()} />;
  const told = estimate.data;
  const begin = () =>
    learn.mutate({ id, estimate: told }, { onSuccess: onClose, onError: () => void estimate.refetch() });
  return (
    <Alert variant="light" color="gray" title="Learn from these chats?" role="status">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {counted(told.turns, 'thing', 'things')} that you said will be looked into, oldest first.{' '}
          <Calls of={told} />
        </Text>
        <Text size="sm">What you said since stays as it is. Chats go first, and you can stop at any time.</Text>
        {learn.isError && <ErrorState error={learn.error} title="Could not start learning" />}
        <Group gap="xs">
          <Button size="xs" disabled={told.turns === 0} loading={learn.isPending} onClick={begin}>
            Learn
          </Button>
          <Button size="xs" variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

function Calls({ of: { model, least_calls, most_calls } }: { of: LearningEstimate }) {
  if (most_calls === 0) return <>The built-in rules do this without calling a model.</>;
  return (
    <>
      It takes {least_calls.toLocaleString()} to {counted(most_calls, 'call', 'calls')} of{' '}
      <Words limit={120}>{model}</Words>.
    </>
  );
}

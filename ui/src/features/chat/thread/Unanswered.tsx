import { Button, Group, Text } from '@mantine/core';
import { useMay } from '@/shared/data/access';
import { useLiveAnswers } from '@/shared/data/conversations/liveAnswers';
import type { Message } from '@/shared/data/conversations/messages';
import { otherFilesOf } from './content';
import { hasEnded } from './turns';
import type { Talk } from './useTalk';

interface UnansweredProps {
  question: Message;
  talk: Talk;
  isBusy: boolean;
}

/** Below a question that nothing, or another question, follows on. */
export function Unanswered({ question, talk, isBusy }: UnansweredProps) {
  const { data: underWay, isPending } = useLiveAnswers(talk.place.conversation);
  const isUnderWay = underWay?.some(answer => answer.question_id === question.id && !hasEnded(answer.run_id));
  const mayWrite = useMay().write;
  if (isPending || isUnderWay) return null;
  return (
    <Group gap="sm">
      <Text size="sm" c="dimmed">
        Not answered.
      </Text>
      {mayWrite && otherFilesOf(question.content).length === 0 && (
        <Button size="compact-sm" variant="default" disabled={isBusy} onClick={() => void talk.regenerate(question)}>
          Ask again
        </Button>
      )}
    </Group>
  );
}

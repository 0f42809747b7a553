import { Button, Group, Text } from '@mantine/core';
import type { Message } from '@/shared/data/conversations/messages';
import { otherFilesOf } from './content';
import type { Talk } from './useTalk';

/** Below a question that the thread ends with. */
export function Unanswered({ question, talk }: { question: Message; talk: Talk }) {
  return (
    <Group gap="sm">
      <Text size="sm" c="dimmed">
        This has no answer.
      </Text>
      {otherFilesOf(question.content).length === 0 && (
        <Button size="compact-sm" variant="default" onClick={() => void talk.regenerate(question)}>
          Ask again
        </Button>
      )}
    </Group>
  );
}

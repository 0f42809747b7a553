import { Button, Group, Text } from '@mantine/core';
import { Link } from 'react-router';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import { useLiveAnswers } from '@/shared/data/conversations/liveAnswers';
import type { Message } from '@/shared/data/conversations/messages';
import { useFailedRuns } from '@/shared/data/runs/runs';
import { wordsOf } from '@/shared/messages/content';
import { otherFilesOf } from './content';
import { hasEnded } from './turns';
import type { Talk } from './useTalk';

/** From so many characters on a question may be kept in part. */
const LONG = 50;

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
  const { conversation } = talk.place;
  const asked = flat(wordsOf(question.content));
  const failed = useFailedRuns(conversation, conversation !== '').data?.find(run => isOf(run.question, asked));
  if (isPending || isUnderWay) return null;
  return (
    <Group gap="sm">
      <Text size="sm" c="dimmed">
        Not answered{failed?.error ? ':' : '.'} {failed?.error && <Words limit={500}>{failed.error}</Words>}
      </Text>
      {mayWrite && otherFilesOf(question.content).length === 0 && (
        <Button size="compact-sm" variant="default" disabled={isBusy} onClick={() => void talk.regenerate(question)}>
          Ask again
        </Button>
      )}
      {failed && (
        <Button
          component={Link}
          to={`/runs?id=${encodeURIComponent(failed.id)}`}
          size="compact-sm"
          variant="subtle"
          color="gray"
        >
          Open run
        </Button>
      )}
    </Group>
  );
}

const flat = (text: string) => text.trim().replace(/\s+/g, ' ');

/** Whether a run was asked this; of a long question it keeps the beginning. */
function isOf(kept: string, asked: string): boolean {
  const begin = flat(kept).replace(/…$/, '');
  return begin === asked || (begin.length >= LONG && asked.startsWith(begin));
}

import { ActionIcon, Tooltip } from '@mantine/core';
import { TbPlayerStop, TbRefresh } from 'react-icons/tb';
import { CopyButton } from '@/shared/components/CopyButton';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import type { Message } from '@/shared/data/conversations/messages';
import { wordsOf } from '@/shared/messages/content';
import { LazyMarkdown } from './LazyMarkdown';
import { Branches } from './Branches';
import { otherFilesOf } from './content';
import { FootLine } from './FootLine';
import { LearnedLine } from './LearnedLine';
import classes from './Message.module.css';
import { Thinking } from './Thinking';
import { thoughtsOf } from './turns';
import type { Talk } from './useTalk';

interface AnswerMessageProps {
  message: Message;
  question: Message | undefined;
  talk: Talk;
  isBusy: boolean;
}

const ENDS: Record<string, string> = {
  incomplete: 'This answer is incomplete.',
  length: 'The model reached its length limit here.',
  content_filter: 'The model’s content filter cut this answer off.',
};

export function AnswerMessage({ message, question, talk, isBusy }: AnswerMessageProps) {
  const { thinking, answer } = withoutThinking(wordsOf(message.content));
  const thoughts = thinking || thoughtsOf(message.run_id);
  const mayWrite = useMay().write;
  const end = ENDS[message.finish_reason ?? ''];
  const canAskAgain = question !== undefined && otherFilesOf(question.content).length === 0;
  return (
    <article className={classes.answer} aria-label="Answer">
      {thoughts && <Thinking text={thoughts} />}
      {answer && <LazyMarkdown>{answer}</LazyMarkdown>}
      {message.tool_calls?.map(call => (
        <details key={call.id} className={classes.folded}>
          <summary>
            Called <Words>{call.function.name}</Words>
          </summary>
          <Words>{call.function.arguments}</Words>
        </details>
      ))}
      {end && (
        <div className={classes.mark}>
          <TbPlayerStop aria-hidden />
          {end}
        </div>
      )}
      <div className={classes.actions}>
        <CopyButton text={answer} label="Copy answer" />
        {mayWrite && (
          <Tooltip label="Regenerate answer">
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label="Regenerate answer"
              disabled={isBusy || !canAskAgain}
              onClick={() => question && void talk.regenerate(question)}
            >
              <TbRefresh size={16} />
            </ActionIcon>
          </Tooltip>
        )}
        <Branches message={message} conversation={talk.place.conversation} isBusy={isBusy} />
        <FootLine message={message} />
      </div>
      <LearnedLine message={message} place={talk.place} />
    </article>
  );
}

/** Some models write their thinking into the answer itself. */
function withoutThinking(text: string): { thinking: string; answer: string } {
  const found = /^\s*<think>([\s\S]*?)<\/think>\s*/.exec(text);
  return found ? { thinking: found[1] ?? '', answer: text.slice(found[0].length) } : { thinking: '', answer: text };
}

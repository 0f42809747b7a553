import { ActionIcon, Anchor, Badge, Group, Text, Tooltip } from '@mantine/core';
import { memo } from 'react';
import { TbGitBranch, TbPin, TbPinnedOff, TbPinFilled } from 'react-icons/tb';
import { Link } from 'react-router';
import { CopyButton } from '@/shared/components/CopyButton';
import { Markdown } from '@/shared/components/markdown/Markdown';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import type { Message } from '@/shared/data/conversations/messages';
import { StateMark } from '../window/StateMark';
import type { MessageState } from '../window/states';
import { BranchSwitch } from './BranchSwitch';
import { filesOf, wordsOf } from '@/shared/messages/content';
import classes from './Message.module.css';
import { MessageFile } from './MessageFile';
import { ToolCalls } from './ToolCalls';

const names = { user: 'User', assistant: 'Assistant', system: 'System', tool: 'Tool' };

interface MessageCardProps {
  conversation: string;
  message: Message;
  siblings: readonly number[];
  isChosen: boolean;
  /** What became of it in the window that is shown; none where no window is. */
  state?: MessageState | undefined;
  onBranch: (id: number) => void;
  onPin: (message: Message) => void;
  onCopyBranch: (id: number) => void;
}

/** One message: who said it and when, what it says, and what can be done with it. */
export const MessageCard = memo(function MessageCard(props: MessageCardProps) {
  const { conversation, message, siblings, isChosen, state, onBranch, onPin, onCopyBranch } = props;
  const mayWrite = useMay().write;
  const words = wordsOf(message.content);
  return (
    <article
      className={classes.message}
      data-role={message.role}
      data-chosen={isChosen || undefined}
      data-state={state?.state}
      aria-label={`${names[message.role]}, message ${message.id}`}
    >
      <Group gap="xs" className={classes.head}>
        <Text span size="sm" fw={600} className={classes.role}>
          {names[message.role]}
          {message.name && (
            <>
              {' · '}
              <Words limit={80}>{message.name}</Words>
            </>
          )}
        </Text>
        {message.created_at && (
          <Text span size="xs" c="dimmed">
            <Time value={message.created_at} />
          </Text>
        )}
        {message.pinned && <TbPinFilled role="img" aria-label="Pinned" className={classes.pinned} />}
        {message.finish_reason === 'incomplete' && (
          <Badge variant="outline" color="var(--second)" size="sm" className={classes.incomplete}>
            cut off
          </Badge>
        )}
        {state && <StateMark {...state} />}
        {siblings.length > 1 && <BranchSwitch siblings={siblings} id={message.id} onChoose={onBranch} />}
        <Group gap={2} ml="auto" wrap="nowrap">
          {message.run_id && (
            <Anchor
              component={Link}
              to={`/runs?id=${encodeURIComponent(message.run_id)}`}
              size="xs"
              px={4}
              lh="1.5rem"
              display="block"
            >
              Run
            </Anchor>
          )}
          <CopyButton text={words} label="Copy message" />
          {mayWrite && (
            <>
              <Act label={message.pinned ? 'Unpin' : 'Pin (keep in windows)'} onClick={() => onPin(message)}>
                {message.pinned ? <TbPinnedOff aria-hidden /> : <TbPin aria-hidden />}
              </Act>
              <Act label="New conversation from here" onClick={() => onCopyBranch(message.id)}>
                <TbGitBranch aria-hidden />
              </Act>
            </>
          )}
        </Group>
      </Group>
      <Files conversation={conversation} message={message} />
      {words && (message.role === 'tool' ? <Words limit={4000}>{words}</Words> : <Markdown>{words}</Markdown>)}
      {message.tool_calls && <ToolCalls calls={message.tool_calls} />}
    </article>
  );
});

function Files({ conversation, message }: { conversation: string; message: Message }) {
  const files = filesOf(message.content);
  if (files.length === 0) return null;
  return (
    <div className={classes.files}>
      {files.map((file, at) => (
        <MessageFile key={at} conversation={conversation} file={file} />
      ))}
    </div>
  );
}

function Act({ label, onClick, children }: { label: string; onClick: () => void; children: React.ReactNode }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

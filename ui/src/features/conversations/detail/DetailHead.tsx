import { Badge, Button, Title } from '@mantine/core';
import { TbMessage } from 'react-icons/tb';
import { Link } from 'react-router';
import { Time } from '@/shared/components/Time';
import { Words } from '@/shared/components/Words';
import type { Conversation } from '@/shared/data/conversations/list';
import { ConversationMenu } from './ConversationMenu';
import classes from './Detail.module.css';

/** What is noted about a conversation, and what can be done with it. */
export function DetailHead({ conversation }: { conversation: Conversation }) {
  const { id, title, preview, tags, custom, message_count: count } = conversation;
  return (
    <header className={classes.head}>
      <div className={classes.top}>
        <Title order={2} size="h4" className={classes.title}>
          <Words limit={300}>{title || preview || id}</Words>
        </Title>
        <Button
          component={Link}
          to={`/?conversation=${encodeURIComponent(id)}`}
          size="compact-sm"
          variant="light"
          leftSection={<TbMessage aria-hidden />}
        >
          Continue
        </Button>
        <ConversationMenu conversation={conversation} />
      </div>
      <div className={classes.facts}>
        <span className={classes.id}>
          <Words limit={120}>{id}</Words>
        </span>
        <span>{count === 1 ? '1 message' : `${count.toLocaleString()} messages`}</span>
        <span>
          {' '}
          started <Time value={conversation.created_at} />
        </span>
        <span>
          last used <Time value={conversation.updated_at} ago />
        </span>
        {custom.keep === true && (
          <Badge size="xs" variant="default" className={classes.tag}>
            kept
          </Badge>
        )}
        {tags.map(tag => (
          <Badge key={tag} size="xs" variant="default" className={classes.tag}>
            <Words limit={60}>{tag}</Words>
          </Badge>
        ))}
      </div>
    </header>
  );
}

import { Text } from '@mantine/core';
import { TbSearch } from 'react-icons/tb';
import { Link } from 'react-router';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { Excerpt } from '@/shared/components/Excerpt';
import { Time } from '@/shared/components/Time';
import { VirtualRows } from '@/shared/components/VirtualRows';
import { Words } from '@/shared/components/Words';
import { type FoundMessage, useFoundMessages } from '@/shared/data/conversations/found';
import { useAddress } from '../address';
import { wordsOf } from '@/shared/messages/content';
import { plainWords } from '@/shared/text/plain';
import classes from './List.module.css';

const MOST_FOUND = 100;
const EXCERPT = { before: 60, length: 220 };

/** Messages that were found, best first; each opens its conversation where it stands. */
export function FoundList() {
  const { address, linkTo } = useAddress();
  const { data, error, isPending, refetch } = useFoundMessages({ ...address, limit: MOST_FOUND });
  if (error) return <ErrorState error={error} title="The search failed" onRetry={() => void refetch()} />;
  if (isPending) return <LoadingState label="Searching" />;
  const found = data.results;
  if (found.length === 0) {
    return <EmptyState Icon={TbSearch} title="Nothing found" hint="Try other words, or search by meaning as well." />;
  }
  return (
    <>
      <Text size="xs" c="dimmed" px="md" pb={4} role="status">
        {inWords(found)}
      </Text>
      <VirtualRows
        items={found}
        rowKey={hit => hit.message.id}
        label="Found messages"
        estimate={96}
        className={classes.scroller ?? ''}
      >
        {hit => (
          <Row
            hit={hit}
            query={address.q}
            to={linkTo({ id: hit.conversation_id, message: hit.message.id, tab: null })}
            isChosen={hit.conversation_id === address.id && hit.message.id === address.message}
          />
        )}
      </VirtualRows>
    </>
  );
}

interface RowProps {
  hit: FoundMessage;
  query: string;
  to: string;
  isChosen: boolean;
}

function inWords(found: readonly FoundMessage[]): string {
  const likely = found.filter(isLikely).length;
  const rest = found.length - likely;
  if (likely === 0) return `No matches; ${rest} less likely`;
  const told = `${likely === 1 ? '1 message' : `${likely} messages`}, best first`;
  return rest ? `${told}; ${rest} less likely` : told;
}

function isLikely(hit: FoundMessage): boolean {
  return hit.likely !== false;
}

function Row({ hit, query, to, isChosen }: RowProps) {
  const { conversation_id: id, title, preview, message } = hit;
  return (
    <Link data-row to={to} className={classes.entry ?? ''} aria-current={isChosen ? 'page' : undefined}>
      <span className={classes.preview}>
        <Words limit={120}>{title || preview || id}</Words>
      </span>
      <span className={classes.excerpt}>
        <Excerpt
          className={classes.words}
          text={plainWords(wordsOf(message.content))}
          query={query}
          room={EXCERPT}
          mark={word => <mark>{word}</mark>}
        />
      </span>
      <Text span size="xs" c="dimmed">
        {message.role}
        {message.created_at && (
          <>
            {' · '}
            <Time value={message.created_at} ago />
          </>
        )}
        {!message.on_thread && ' · on another branch'}
        {!isLikely(hit) && ' · less likely'}
      </Text>
    </Link>
  );
}

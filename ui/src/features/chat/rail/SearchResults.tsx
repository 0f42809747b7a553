import { Text } from '@mantine/core';
import { EmptyState, ErrorState, LoadingState } from '@/shared/components/states';
import { useFoundMessages } from '@/shared/data/conversations/found';
import { useFoundTitles } from '@/shared/data/conversations/list';
import { ConversationRow } from './ConversationRow';
import { FoundMessageRow } from './FoundMessageRow';
import classes from './rail.module.css';

const MOST_FOUND = 12;

interface SearchResultsProps {
  words: string;
  onChosen: () => void;
}

/** Conversations that are called so, then messages in which it was said. */
export function SearchResults({ words, onChosen }: SearchResultsProps) {
  const titles = useFoundTitles(words);
  const found = useFoundMessages({ q: words, limit: MOST_FOUND });
  const called = titles.data ?? [];
  const messages = found.data?.results ?? [];

  if (titles.isPending || found.isPending) return <LoadingState label="Searching" />;
  if (found.isError)
    return <ErrorState error={found.error} title="The search failed" onRetry={() => void found.refetch()} />;
  if (!called.length && !messages.length) return <EmptyState title="Nothing found" hint="Try other words." />;
  return (
    <div className={classes.results}>
      {called.length > 0 && (
        <section aria-label="Titles">
          <Text component="h2" className={classes.heading}>
            Titles
          </Text>
          {called.map((conversation, at) => (
            <div key={conversation.id} data-index={at}>
              <ConversationRow conversation={conversation} onChosen={onChosen} />
            </div>
          ))}
        </section>
      )}
      {messages.length > 0 && (
        <section aria-label="Messages">
          <Text component="h2" className={classes.heading}>
            Messages
          </Text>
          {messages.map((hit, at) => (
            <div key={hit.message.id} data-index={at}>
              <FoundMessageRow hit={hit} words={words} onChosen={onChosen} />
            </div>
          ))}
        </section>
      )}
    </div>
  );
}

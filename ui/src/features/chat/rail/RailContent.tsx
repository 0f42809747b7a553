import { Button, CloseButton, Group, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { TbEdit, TbSearch } from 'react-icons/tb';
import { Link } from 'react-router';
import { moveFocus } from '@/shared/components/moveFocus';
import { ConversationList } from './ConversationList';
import classes from './rail.module.css';
import { RailMenu } from './RailMenu';
import { SearchResults } from './SearchResults';

interface RailContentProps {
  /** Called when a conversation, or a new one, was chosen. */
  onChosen: () => void;
}

const PAUSE_MS = 250;

/** New chat, the search, and below what it found, or all conversations. */
export function RailContent({ onChosen }: RailContentProps) {
  const [typed, setTyped] = useState('');
  const [words] = useDebouncedValue(typed.trim(), PAUSE_MS);
  const isSearching = typed.trim() !== '' && words !== '';
  return (
    // keys pressed on the links within
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className={classes.content} data-rows onKeyDown={moveFocus}>
      <div className={classes.top}>
        <Group gap="xs" wrap="nowrap">
          <Button
            component={Link}
            to="/"
            variant="default"
            justify="flex-start"
            leftSection={<TbEdit size={18} aria-hidden />}
            onClick={onChosen}
            fullWidth
          >
            New chat
          </Button>
          <RailMenu />
        </Group>
        <TextInput
          type="search"
          aria-label="Search conversations"
          placeholder="Search"
          leftSection={<TbSearch size={16} aria-hidden />}
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
          data-mantine-stop-propagation={typed !== ''} // Escape clears it before it closes a drawer around it
          onKeyDown={event => {
            if (event.key === 'Escape') setTyped('');
          }}
          rightSection={typed && <CloseButton size="sm" aria-label="Clear search" onClick={() => setTyped('')} />}
        />
      </div>
      {isSearching ? <SearchResults words={words} onChosen={onChosen} /> : <ConversationList onChosen={onChosen} />}
    </div>
  );
}

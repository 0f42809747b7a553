import { CloseButton, SegmentedControl, TextInput } from '@mantine/core';
import { useState } from 'react';
import { TbSearch } from 'react-icons/tb';
import type { Place } from '../place';
import classes from './toolbar.module.css';

interface SearchBoxProps {
  place: Place;
  go: (changes: Partial<Place>) => void;
}

/** Looks by meaning, as chats do, or for words. Enter searches, Escape goes back to the list. */
export function SearchBox({ place, go }: SearchBoxProps) {
  const [typed, setTyped] = useState(place.q);
  const clear = () => {
    setTyped('');
    if (place.q) go({ q: '' });
  };
  return (
    <div className={classes.search}>
      <TextInput
        size="xs"
        flex={1}
        type="search"
        aria-label="Search memories"
        placeholder={place.by === 'meaning' ? 'Search by meaning' : 'Search by words'}
        leftSection={<TbSearch size={14} aria-hidden />}
        rightSection={typed && <CloseButton size="xs" aria-label="Clear search" onClick={clear} />}
        value={typed}
        maxLength={1000}
        onChange={event => setTyped(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter') go({ q: typed.trim() });
          if (event.key === 'Escape') clear();
        }}
      />
      <SegmentedControl
        size="xs"
        aria-label="Search by"
        value={place.by}
        onChange={by => go({ by: by, q: typed.trim() })}
        data={[
          { value: 'meaning', label: 'Meaning' },
          { value: 'words', label: 'Words' },
        ]}
      />
    </div>
  );
}

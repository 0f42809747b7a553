import { CloseButton, Loader, SegmentedControl, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { TbSearch } from 'react-icons/tb';
import { useIsSearching } from '@/shared/data/memories/list';
import type { Place, usePlace } from '../place';
import classes from './toolbar.module.css';

interface SearchBoxProps {
  place: Place;
  go: ReturnType<typeof usePlace>['go'];
}

const PAUSE_MS = 200;

/** Looks by meaning, as chats do, or for words, as one types. Enter searches at once, Escape goes back to the list. */
export function SearchBox({ place, go }: SearchBoxProps) {
  const isSearching = useIsSearching(place);
  const [typed, setTyped] = useState(place.q);
  const [shown, setShown] = useState(place.q);
  const [sent, setSent] = useState(place.q);
  if (shown !== place.q) {
    setShown(place.q);
    if (place.q !== sent) {
      // of elsewhere, as Back; what is being typed stays
      setSent(place.q);
      setTyped(place.q);
    }
  }
  const search = (words: string, by = place.by) => {
    setSent(words);
    // Back returns to the list, not to each piece of a word
    if (words !== place.q || by !== place.by) go({ q: words, by }, { replace: place.q !== '' });
  };
  const later = useDebouncedCallback((words: string) => search(words), PAUSE_MS);
  const write = (words: string) => {
    setTyped(words);
    later(words.trim());
  };
  const searchNow = (words: string, by = place.by) => {
    later.cancel();
    search(words, by);
  };
  const clear = () => {
    setTyped('');
    searchNow('');
  };
  return (
    <div className={classes.search}>
      <TextInput
        size="xs"
        flex={1}
        type="search"
        aria-label="Search memories"
        placeholder={place.by === 'meaning' ? 'Search by meaning' : 'Search by words'}
        leftSection={isSearching ? <Loader size={14} aria-hidden /> : <TbSearch size={14} aria-hidden />}
        rightSection={typed && <CloseButton size="xs" aria-label="Clear search" onClick={clear} />}
        value={typed}
        maxLength={1000}
        onChange={event => write(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter') searchNow(typed.trim());
          if (event.key === 'Escape') clear();
        }}
      />
      <SegmentedControl
        size="xs"
        aria-label="Search by"
        value={place.by}
        onChange={by => searchNow(typed.trim(), by)}
        data={[
          { value: 'meaning', label: 'Meaning' },
          { value: 'words', label: 'Words' },
        ]}
      />
    </div>
  );
}

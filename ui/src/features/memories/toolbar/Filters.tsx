import { CloseButton, NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { isByChange } from '@/shared/data/memories/list';
import { ORIGIN_NAMES } from '../detail/reasons';
import type { Place } from '../place';

interface FiltersProps {
  place: Place;
  /** What is found comes best first, in no other order. */
  isSearch: boolean;
  go: (changes: Partial<Place>) => void;
}

const KINDS = [
  { value: '', label: 'All kinds' },
  { value: 'fact', label: 'Facts' },
  { value: 'message', label: 'Messages' },
];
const ORIGINS = [
  { value: '', label: 'Any origin' },
  ...Object.entries(ORIGIN_NAMES).map(([value, label]) => ({ value, label })),
];
const AGES = [
  { value: '', label: 'Any age' },
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '365', label: 'Last year' },
];
const HIDDEN = [
  { value: 'without', label: 'Active' },
  { value: 'with', label: 'Include hidden' },
  { value: 'only', label: 'Hidden only' },
];
const ORDERS = [
  { value: 'created_desc', label: 'Newest first' },
  { value: 'created_asc', label: 'Oldest first' },
  { value: 'updated_desc', label: 'Recently changed' },
  { value: 'updated_asc', label: 'Least recently changed' },
];

const TIMES = [
  { value: 'created_desc', label: 'Learned' },
  { value: 'updated_desc', label: 'Changed' },
];

/** Kind, origin, age, what has decayed, order and the conversation a memory came from. */
export function Filters({ place, isSearch, go }: FiltersProps) {
  const ages = AGES.some(age => age.value === place.age)
    ? AGES
    : [...AGES, { value: place.age, label: `Last ${place.age} days` }];
  return (
    <>
      <NativeSelect
        size="xs"
        label="Kind"
        data={KINDS}
        value={place.kind}
        onChange={event => go({ kind: event.currentTarget.value as Place['kind'] })}
      />
      <NativeSelect
        size="xs"
        label="Origin"
        data={ORIGINS}
        value={place.origin}
        onChange={event => go({ origin: event.currentTarget.value as Place['origin'] })}
      />
      <NativeSelect
        size="xs"
        label="Age"
        data={ages}
        value={place.age}
        onChange={event => go({ age: event.currentTarget.value, from: '', until: '' })}
      />
      <NativeSelect
        size="xs"
        label="Decayed or expired"
        data={HIDDEN}
        value={place.hidden}
        onChange={event => go({ hidden: event.currentTarget.value as Place['hidden'] })}
      />
      {!isSearch && (
        <NativeSelect
          size="xs"
          label="Order"
          data={ORDERS}
          value={place.order}
          onChange={event => go({ order: event.currentTarget.value as Place['order'] })}
        />
      )}
      {isSearch && (place.age || place.from || place.until) && (
        <NativeSelect
          size="xs"
          label="Age since"
          data={TIMES}
          value={isByChange(place.order) ? 'updated_desc' : 'created_desc'}
          onChange={event => go({ order: event.currentTarget.value as Place['order'] })}
        />
      )}
      <SourceFilter source={place.source} onChange={source => go({ source })} />
    </>
  );
}

function SourceFilter({ source, onChange }: { source: string; onChange: (source: string) => void }) {
  const [typed, setTyped] = useState(source);
  const [shown, setShown] = useState(source);
  if (shown !== source) {
    // of elsewhere: a field that was made anew would lose the focus
    setShown(source);
    setTyped(source);
  }
  const submit = () => typed.trim() !== source && onChange(typed.trim());
  return (
    <TextInput
      size="xs"
      label="Learned in conversation"
      placeholder="Any conversation"
      value={typed}
      rightSection={source && <CloseButton size="xs" aria-label="Any conversation" onClick={() => onChange('')} />}
      onChange={event => setTyped(event.currentTarget.value)}
      onBlur={submit}
      onKeyDown={event => event.key === 'Enter' && submit()}
    />
  );
}

import { Group, SegmentedControl } from '@mantine/core';
import type { Place } from '../place';
import { Filters } from './Filters';
import { OwnerPicker } from './OwnerPicker';
import { SearchBox } from './SearchBox';

interface ToolbarProps {
  place: Place;
  go: (changes: Partial<Place>, how?: { replace?: boolean }) => void;
}

/** Whose memories, what is looked for, and how the list is narrowed and shown. */
export function Toolbar({ place, go }: ToolbarProps) {
  const isSearch = place.q !== '' && place.by === 'meaning';
  return (
    <Group gap="xs">
      <OwnerPicker place={place} go={go} />
      <SearchBox key={place.q} place={place} go={go} />
      {!isSearch && <Filters place={place} go={go} />}
      <SegmentedControl
        size="xs"
        aria-label="View"
        value={place.view}
        onChange={view => go({ view: view })}
        data={[
          { value: 'table', label: 'Table' },
          { value: 'timeline', label: 'Timeline' },
        ]}
      />
    </Group>
  );
}

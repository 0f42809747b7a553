import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { TbAdjustmentsHorizontal } from 'react-icons/tb';
import type { Place } from '../place';
import { Filters } from './Filters';
import { OwnerPicker } from './OwnerPicker';
import { SearchBox } from './SearchBox';
import classes from './toolbar.module.css';

interface ToolbarProps {
  place: Place;
  go: (changes: Partial<Place>) => void;
}

/** Whose memories, what is looked for, and how the list is narrowed. Phones show the filters when asked. */
export function Toolbar({ place, go }: ToolbarProps) {
  const [isOpen, filters] = useDisclosure(false);
  const isSearch = place.q !== '' && place.by === 'meaning';
  const inUse = [place.kind, place.age, place.source].filter(Boolean).length + Number(place.hidden !== 'without');
  return (
    <Group gap="xs">
      <OwnerPicker place={place} go={go} />
      <SearchBox key={place.q} place={place} go={go} />
      {!isSearch && (
        <>
          <Button
            className={classes.opener ?? ''}
            size="xs"
            variant="default"
            leftSection={<TbAdjustmentsHorizontal size={15} aria-hidden />}
            aria-expanded={isOpen}
            onClick={filters.toggle}
          >
            Filters{inUse > 0 && ` (${inUse})`}
          </Button>
          <div className={classes.filters} data-open={isOpen || undefined}>
            <Filters place={place} go={go} />
          </div>
        </>
      )}
    </Group>
  );
}

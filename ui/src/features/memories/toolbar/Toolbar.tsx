import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { TbAdjustmentsHorizontal } from 'react-icons/tb';
import { Words } from '@/shared/components/Words';
import type { Place } from '../place';
import { Filters } from './Filters';
import { OwnerPicker } from './OwnerPicker';
import { SearchBox } from './SearchBox';
import classes from './toolbar.module.css';

interface ToolbarProps {
  place: Place;
  go: (changes: Partial<Place>) => void;
}

/** Whose memories, what is looked for, and how the list is narrowed. Phones show all but the search when asked. */
export function Toolbar({ place, go }: ToolbarProps) {
  const [isOpen, filters] = useDisclosure(false);
  const isSearch = place.q !== '' && place.by === 'meaning';
  const inUse = [place.kind, place.age, place.source].filter(Boolean).length + Number(place.hidden !== 'without');
  const count = isSearch ? 0 : inUse;
  return (
    <Group gap="xs">
      <SearchBox key={place.q} place={place} go={go} />
      <div className={classes.opener}>
        <Button
          size="xs"
          variant="default"
          leftSection={<TbAdjustmentsHorizontal size={15} aria-hidden />}
          aria-expanded={isOpen}
          onClick={filters.toggle}
        >
          Filters{count > 0 && ` (${count})`}
        </Button>
        <Text size="xs" c="dimmed" truncate>
          <Words>{place.user}</Words> in <Words>{place.project}</Words>
        </Text>
      </div>
      <div className={classes.filters} data-open={isOpen || undefined}>
        <OwnerPicker place={place} go={go} />
        {!isSearch && <Filters place={place} go={go} />}
      </div>
    </Group>
  );
}

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
  const count = [place.kind, place.age, place.source].filter(Boolean).length + Number(place.hidden !== 'without');
  return (
    <Group gap="xs">
      <SearchBox key={place.q} place={place} go={go} />
      <div className={classes.opener}>
        <Button
          size="xs"
          variant="default"
          flex="none"
          leftSection={<TbAdjustmentsHorizontal size={15} aria-hidden />}
          aria-expanded={isOpen}
          onClick={filters.toggle}
        >
          Filters{count > 0 && ` (${count})`}
        </Button>
        <Text size="xs" c="dimmed" component="div" className={classes.whose}>
          <span className={classes.name} title={place.user}>
            <Words>{place.user}</Words>
          </span>{' '}
          <span>in</span>{' '}
          <span className={classes.name} title={place.project}>
            <Words>{place.project}</Words>
          </span>
        </Text>
      </div>
      <div className={classes.filters} data-open={isOpen || undefined}>
        <OwnerPicker place={place} go={go} />
        <Filters place={place} go={go} isSearch={isSearch} />
      </div>
    </Group>
  );
}

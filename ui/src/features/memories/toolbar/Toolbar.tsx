import { Button, Group, Popover, Text } from '@mantine/core';
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

/** What is looked for; whose memories and how the list is narrowed, behind one button. */
export function Toolbar({ place, go }: ToolbarProps) {
  const isSearch = place.q !== '' && place.by === 'meaning';
  const count =
    [place.kind, place.origin, place.age, place.source].filter(Boolean).length + Number(place.hidden !== 'without');
  return (
    <Group gap="xs" className={classes.row}>
      <SearchBox key={place.q} place={place} go={go} />
      <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
        <Popover.Target>
          <Button
            size="xs"
            variant="default"
            flex="none"
            leftSection={<TbAdjustmentsHorizontal size={15} aria-hidden />}
          >
            Filters{count > 0 && ` (${count})`}
          </Button>
        </Popover.Target>
        <Popover.Dropdown className={classes.filters} aria-label="Filters">
          <OwnerPicker place={place} go={go} />
          <Filters place={place} go={go} isSearch={isSearch} />
        </Popover.Dropdown>
      </Popover>
      <Text size="xs" c="dimmed" component="div" className={classes.whose}>
        <span className={classes.name} title={place.user}>
          <Words>{place.user}</Words>
        </span>{' '}
        <span>in</span>{' '}
        <span className={classes.name} title={place.project}>
          <Words>{place.project}</Words>
        </span>
      </Text>
    </Group>
  );
}

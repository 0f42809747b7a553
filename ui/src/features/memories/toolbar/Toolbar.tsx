import { Button, Group, Popover, Text } from '@mantine/core';
import { TbAdjustmentsHorizontal, TbTrash } from 'react-icons/tb';
import { Words } from '@/shared/components/Words';
import { useMay } from '@/shared/data/access';
import { useDialog } from '@/shared/hooks/useDialog';
import { RemoveSourceDialog } from '../dialogs/RemoveSourceDialog';
import type { Place, usePlace } from '../place';
import { Filters } from './Filters';
import { OwnerPicker } from './OwnerPicker';
import { SearchBox } from './SearchBox';
import classes from './toolbar.module.css';

interface ToolbarProps {
  place: Place;
  go: ReturnType<typeof usePlace>['go'];
}

/** What is looked for; whose memories and how the list is narrowed, behind one button. */
export function Toolbar({ place, go }: ToolbarProps) {
  const isSearch = place.q !== '' && place.by === 'meaning';
  const count =
    [place.kind, place.origin, place.age || place.from || place.until, place.source].filter(Boolean).length +
    Number(place.hidden !== 'without');
  const { shown, open, close } = useDialog<'remove'>();
  const may = useMay();
  const hasSource = place.origin !== '' || place.source !== '';
  return (
    <Group gap="xs" className={classes.row}>
      <SearchBox place={place} go={go} />
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
      {hasSource && may.write && (
        <Button
          size="xs"
          variant="default"
          flex="none"
          leftSection={<TbTrash size={15} aria-hidden />}
          onClick={() => open('remove')}
        >
          Remove all of this source…
        </Button>
      )}
      {shown === 'remove' && (
        <RemoveSourceDialog
          owner={{ user: place.user, project: place.project }}
          source={{ origin: place.origin, source: place.source }}
          onDeleted={ids => ids.includes(place.id) && go({ id: '' })}
          onClose={close}
        />
      )}
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

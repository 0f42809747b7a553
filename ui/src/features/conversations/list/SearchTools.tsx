import { ActionIcon, Button, NativeSelect, Popover, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { TbFilter, TbFilterFilled, TbSearch, TbX } from 'react-icons/tb';
import type { Mode } from '@/shared/data/conversations/found';
import { useAddress } from '../address';
import classes from './List.module.css';

const modes: { value: Mode; label: string }[] = [
  { value: 'hybrid', label: 'Both' },
  { value: 'keyword', label: 'Words' },
  { value: 'semantic', label: 'Meaning' },
];
const roles = [
  { value: '', label: 'Anyone' },
  { value: 'user', label: 'User' },
  { value: 'assistant', label: 'Assistant' },
  { value: 'tool', label: 'Tool' },
  { value: 'system', label: 'System' },
];

/** What to look for, how, and in which messages. */
export function SearchTools() {
  const { address, change } = useAddress();
  const [words, setWords] = useState(address.q);
  const later = useDebouncedCallback(change, 300);
  const write = (q: string) => {
    setWords(q);
    later({ q });
  };
  return (
    <div className={classes.tools} role="search" aria-label="Search conversations">
      <TextInput
        size="sm"
        aria-label="Search in all messages"
        placeholder="Search in all messages"
        leftSection={<TbSearch aria-hidden />}
        value={words}
        onChange={event => write(event.currentTarget.value)}
        rightSection={
          words && (
            <ActionIcon variant="subtle" color="gray" size="sm" aria-label="Clear search" onClick={() => write('')}>
              <TbX aria-hidden />
            </ActionIcon>
          )
        }
      />
      {words && (
        <div className={classes.row}>
          <SegmentedControl
            size="xs"
            fullWidth
            className={classes.modes}
            aria-label="Search by"
            data={modes}
            value={address.mode}
            onChange={mode => change({ mode })}
          />
          <Filters />
        </div>
      )}
    </div>
  );
}

function Filters() {
  const { address, change } = useAddress();
  const isOn = address.role !== '' || address.since !== '' || address.until !== '';
  return (
    <Popover position="bottom-end" trapFocus shadow="md" withinPortal>
      <Popover.Target>
        <ActionIcon variant="default" size="md" aria-label={isOn ? 'Filters (on)' : 'Filters'}>
          {isOn ? <TbFilterFilled aria-hidden /> : <TbFilter aria-hidden />}
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" w="13rem">
          <NativeSelect
            size="xs"
            label="Said by"
            data={roles}
            value={address.role}
            onChange={event => change({ role: event.currentTarget.value })}
          />
          <TextInput
            size="xs"
            type="date"
            label="From"
            value={address.since}
            onChange={event => change({ since: event.currentTarget.value })}
          />
          <TextInput
            size="xs"
            type="date"
            label="To (inclusive)"
            value={address.until}
            onChange={event => change({ until: event.currentTarget.value })}
          />
          {isOn && (
            <Button size="xs" variant="default" onClick={() => change({ role: null, since: null, until: null })}>
              Clear filters
            </Button>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

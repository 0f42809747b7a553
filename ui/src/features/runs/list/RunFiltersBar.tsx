import { Button, Group, NativeSelect, Popover, Stack, TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { TbFilter, TbSearch, TbX } from 'react-icons/tb';
import type { RunFilters } from '@/shared/data/runs/runs';
import classes from './RunFiltersBar.module.css';

type TextFilter = 'workflow' | 'conversation' | 'user' | 'error';

const TEXTS: [TextFilter, string, string][] = [
  ['workflow', 'Workflow', 'Full name'],
  ['user', 'User', 'Config user or owner of the memories'],
  ['conversation', 'Conversation', 'Conversation ID'],
  ['error', 'Error contains', 'Part of the message'],
];
const SPANS = [
  { value: '', label: 'Any time' },
  { value: '15', label: 'Last 15 minutes' },
  { value: '60', label: 'Last hour' },
  { value: '1440', label: 'Last 24 hours' },
];
const STATUSES = [
  { value: '', label: 'Any status' },
  { value: 'running', label: 'Running' },
  { value: 'finished', label: 'Finished' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Cancelled' },
];
const NOTHING = { q: null, status: null, workflow: null, conversation: null, user: null, error: null, since: null };

interface RunFiltersBarProps {
  filters: RunFilters;
  onChange: (change: Record<string, string | null>, replace: boolean) => void;
  hiddenWhenNarrow: boolean;
}

/** What narrows the list: words of the question, status and time at hand, the rest in a panel. */
export function RunFiltersBar({ filters, onChange, hiddenWhenNarrow }: RunFiltersBarProps) {
  const given = TEXTS.filter(([name]) => filters[name]).length;
  const isNarrowed = given > 0 || Boolean(filters.q || filters.status || filters.since);
  return (
    <Group
      gap="xs"
      className={hiddenWhenNarrow ? classes.onlyWide : undefined}
      role="search"
      aria-label="Filter runs"
    >
      <TypedFilter
        className={classes.search}
        type="search"
        aria-label="Search questions"
        placeholder="Search questions"
        leftSection={<TbSearch size={14} aria-hidden />}
        value={filters.q}
        onChange={q => onChange({ q }, true)}
      />
      <NativeSelect
        size="xs"
        aria-label="Status"
        data={STATUSES}
        value={filters.status}
        onChange={event => onChange({ status: event.currentTarget.value }, true)}
      />
      <NativeSelect
        size="xs"
        aria-label="Started"
        data={filters.since ? [...SPANS, { value: 'kept', label: `Since ${filters.since.slice(0, 16)}` }] : SPANS}
        value={filters.since ? 'kept' : ''}
        onChange={event => onChange({ since: sinceMinutes(event.currentTarget.value, filters.since) }, true)}
      />
      <Popover position="bottom-start" withArrow shadow="md" trapFocus>
        <Popover.Target>
          <Button size="xs" variant="default" leftSection={<TbFilter aria-hidden />}>
            {given ? `Filters (${given})` : 'Filters'}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="xs" w="16rem">
            {TEXTS.map(([name, label, placeholder]) => (
              <TypedFilter
                key={name}
                label={label}
                placeholder={placeholder}
                value={filters[name]}
                onChange={value => onChange({ [name]: value }, true)}
              />
            ))}
          </Stack>
        </Popover.Dropdown>
      </Popover>
      {isNarrowed && (
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          leftSection={<TbX aria-hidden />}
          onClick={() => onChange(NOTHING, true)}
        >
          Clear filters
        </Button>
      )}
    </Group>
  );
}

interface TypedFilterProps extends Omit<TextInputProps, 'onChange'> {
  value: string;
  onChange: (value: string) => void;
}

/** Shows the value, and while somebody types what is typed, which becomes the value when they pause. */
function TypedFilter({ value, onChange, ...input }: TypedFilterProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const settle = useDebouncedCallback(onChange, 300);
  if (typed === value) setTyped(null);
  return (
    <TextInput
      size="xs"
      maxLength={1000}
      {...input}
      value={typed ?? value}
      onChange={event => {
        setTyped(event.currentTarget.value);
        settle(event.currentTarget.value);
      }}
    />
  );
}

function sinceMinutes(chosen: string, before: string): string {
  if (chosen === 'kept') return before;
  return chosen ? new Date(Date.now() - Number(chosen) * 60_000).toISOString() : '';
}

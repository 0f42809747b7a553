import { Loader, Modal, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { type KeyboardEvent, useId, useState } from 'react';
import { TbSearch } from 'react-icons/tb';
import { useNavigate } from 'react-router';
import { Words } from '@/shared/components/Words';
import { type Entry, useEntries } from './entries';
import classes from './Palette.module.css';

/** One box for pages, chats and memories. Arrows move, Enter opens. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const { entries, isSearching } = useEntries(typed);
  const navigate = useNavigate();
  const id = useId();
  const at = Math.min(chosen, entries.length - 1);
  const open = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    void navigate(entry.to);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 };
    const to = moves[event.key];
    if (event.key === 'Enter') open(entries[at]);
    else if (to === undefined) return;
    else setChosen((to + entries.length) % Math.max(1, entries.length));
    event.preventDefault();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size="lg"
      yOffset="12vh"
      title={<VisuallyHidden>Go to</VisuallyHidden>}
      classNames={{ header: classes.header ?? '' }}
      transitionProps={{ duration: 0 }}
    >
      <TextInput
        variant="unstyled"
        size="md"
        px="md"
        role="combobox"
        aria-label="Search pages, chats and memories"
        aria-expanded={entries.length > 0}
        aria-controls={id}
        aria-activedescendant={entries[at] && `${id}-${at}`}
        placeholder="Search pages, chats and memories"
        leftSection={<TbSearch size={18} aria-hidden />}
        rightSection={isSearching && <Loader size="xs" aria-label="Searching" />}
        data-autofocus
        value={typed}
        onChange={event => {
          setTyped(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id={id} role="listbox" aria-label="Results" className={classes.entries}>
        {entries.map((entry, index) => (
          // the keys are those of the box above, which keeps the focus
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={entry.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            ref={index === at ? intoView : undefined}
            className={classes.entry}
            onClick={() => open(entry)}
            onMouseMove={() => setChosen(index)}
          >
            <entry.Icon size={17} aria-hidden className={classes.icon} />
            <span className={classes.name}>
              <Words limit={160}>{entry.name}</Words>
            </span>
            <Text span size="xs" c="dimmed">
              {entry.group}
            </Text>
          </li>
        ))}
      </ul>
      {entries.length === 0 && !isSearching && (
        <Text size="sm" c="dimmed" p="md" role="status">
          Nothing found
        </Text>
      )}
    </Modal>
  );
}

function intoView(entry: HTMLElement | null): void {
  entry?.scrollIntoView({ block: 'nearest' });
}

import { Loader, Text, TextInput } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';
import { TbSearch } from 'react-icons/tb';
import classes from './SearchList.module.css';

interface SearchListProps<Item> {
  /** What can be searched for: the name of the box. */
  label: string;
  /** The name of the list. */
  listLabel: string;
  typed: string;
  onTyped: (text: string) => void;
  /** What fits the words, best first. */
  items: readonly Item[];
  keyOf: (item: Item) => string;
  /** The heading that an item stands below; items of a group follow each other. */
  groupOf?: (item: Item) => string;
  /** The item that is marked before anything is typed; -1 for the first. */
  startAt?: number;
  isSearching?: boolean;
  onChoose: (item: Item) => void;
  children: (item: Item) => ReactNode;
}

/** A box with the list of what fits the words in it. Arrows mark another item, Enter or a click chooses it. */
export function SearchList<Item>(props: SearchListProps<Item>) {
  const {
    label,
    listLabel,
    typed,
    onTyped,
    items,
    keyOf,
    groupOf,
    startAt = -1,
    isSearching = false,
    onChoose,
    children,
  } = props;
  const [marked, setMarked] = useState(Math.max(0, startAt));
  const id = useId();
  const at = Math.min(marked, items.length - 1);
  const choose = (item: Item | undefined) => {
    if (item !== undefined) onChoose(item);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 };
    const to = moves[event.key];
    if (event.key === 'Enter') choose(items[at]);
    else if (to === undefined) return;
    else setMarked((to + items.length) % Math.max(1, items.length));
    event.preventDefault();
  };
  const option = (item: Item, index: number) => (
    // the keys are those of the box above, which keeps the focus
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      key={keyOf(item)}
      id={`${id}-${index}`}
      role="option"
      aria-selected={index === at}
      ref={index === at ? intoView : undefined}
      className={classes.item}
      onClick={() => choose(item)}
      onMouseMove={() => setMarked(index)}
    >
      {children(item)}
    </div>
  );
  return (
    <>
      <TextInput
        variant="unstyled"
        size="md"
        px="md"
        role="combobox"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={items.length > 0}
        aria-controls={id}
        aria-activedescendant={items[at] && `${id}-${at}`}
        placeholder={label}
        leftSection={<TbSearch size={18} aria-hidden />}
        rightSection={isSearching && <Loader size="xs" aria-label="Searching" />}
        autoComplete="off"
        data-autofocus
        value={typed}
        onChange={event => {
          onTyped(event.currentTarget.value);
          setMarked(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} role="listbox" aria-label={listLabel} className={classes.items}>
        {groupOf
          ? groups(items, groupOf).map(([name, from, members]) => (
              <div key={name} role="group" aria-label={name}>
                <div className={classes.group} aria-hidden>
                  {name}
                </div>
                {members.map((item, place) => option(item, from + place))}
              </div>
            ))
          : items.map(option)}
      </div>
      {items.length === 0 && !isSearching && (
        <Text size="sm" c="dimmed" p="md" role="status">
          Nothing found
        </Text>
      )}
    </>
  );
}

function intoView(entry: HTMLElement | null): void {
  entry?.scrollIntoView({ block: 'nearest' });
}

/** The groups in their order: name, place of the first item, items. */
function groups<Item>(items: readonly Item[], groupOf: (item: Item) => string): [string, number, Item[]][] {
  const found: [string, number, Item[]][] = [];
  items.forEach((item, at) => {
    const last = found.at(-1);
    if (last?.[0] === groupOf(item)) last[2].push(item);
    else found.push([groupOf(item), at, [item]]);
  });
  return found;
}

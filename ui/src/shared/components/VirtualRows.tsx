import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useRef } from 'react';
import { moveFocus } from './moveFocus';
import { RowsInSight } from './RowsInSight';
import classes from './VirtualRows.module.css';

interface VirtualRowsProps<Item> {
  items: readonly Item[];
  rowKey: (item: Item) => string | number;
  children: (item: Item, at: number) => ReactNode;
  /** What the list is, for screen readers. */
  label: string;
  /** Height of a row before it is measured, in pixels. */
  estimate?: number;
  /** Called when the last rows come into sight: load the next page. */
  onEndReached?: () => void;
  /** How many there are in all, when more than are loaded. */
  total?: number;
  className?: string;
}

/** A list of which only the rows in sight are in the page; rows have the height they need. */
export function VirtualRows<Item>(props: VirtualRowsProps<Item>) {
  const { items, rowKey, children, label, estimate = 48, onEndReached, total = items.length, className } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    getItemKey: at => {
      const item = items[at];
      return item === undefined ? at : rowKey(item);
    },
    overscan: 8,
  });
  const shown = rows.getVirtualItems();
  const isAtEnd = (shown.at(-1)?.index ?? -1) >= items.length - 1 && items.length > 0;
  useEffect(() => {
    if (isAtEnd) onEndReached?.();
  }, [isAtEnd, onEndReached]);

  return (
    // keys pressed on its rows
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      ref={scroller}
      className={`${classes.scroller ?? ''} ${className ?? ''}`}
      tabIndex={0}
      role="group"
      aria-label={label}
      data-rows
      onKeyDown={moveFocus}
    >
      <RowsInSight list={rows} label={label} around={at => ({ 'aria-setsize': total, 'aria-posinset': at + 1 })}>
        {at => {
          const item = items[at];
          return item === undefined ? null : children(item, at);
        }}
      </RowsInSight>
    </div>
  );
}

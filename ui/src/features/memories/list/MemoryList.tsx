import { Checkbox } from '@mantine/core';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useChatTitles } from '@/shared/data/conversations/list';
import type { Scope } from '@/shared/data/scope';
import virtualRows from '@/shared/components/VirtualRows.module.css';
import classes from './list.module.css';
import { MemoryRow } from './MemoryRow';
import type { Row } from './rows';
import type { Selection } from './useSelection';

interface MemoryListProps {
  rows: Row[];
  total: number;
  view: 'table' | 'timeline';
  owner: Scope;
  /** What was looked for. */
  query: string;
  openId: string;
  selection: Selection;
  onOpen: (id: string) => void;
  onDelete: (ids: string[]) => void;
  onEndReached: () => void;
}

const PAGE_ROWS = 10;
const ESTIMATE = 44;

/**
 * The memories as a grid of which only the rows in sight are in the page. Arrows move, Enter opens, Space selects,
 * Delete deletes. One row can be reached with Tab: the one that was at work last.
 */
export function MemoryList(props: MemoryListProps) {
  const { rows, total, view, owner, query, openId, selection, onOpen, onDelete, onEndReached } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [activeId, setActiveId] = useState('');
  const wantsFocus = useRef(false);
  const active = Math.max(0, activeId ? rows.findIndex(row => row.memory.id === activeId) : 0);
  const titles = useChatTitles(owner);
  const isSearch = rows[0]?.hit !== undefined;

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATE,
    getItemKey: at => rows[at]?.memory.id ?? at,
    overscan: 4,
    scrollPaddingStart: 36,
    // the row with the focus stays, wherever one scrolls to
    rangeExtractor: range => [...new Set([...defaultRangeExtractor(range), active])].sort((a, b) => a - b),
  });
  const shown = virtual.getVirtualItems().filter(item => item.index < rows.length);
  const last = virtual.range?.endIndex ?? -1;
  const isAtEnd = rows.length > 0 && last >= rows.length - 20;
  useEffect(() => {
    if (isAtEnd) onEndReached();
  }, [isAtEnd, onEndReached]);
  useEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    scroller.current?.querySelector<HTMLElement>('[data-active]')?.focus({ preventScroll: true });
  });

  const moveTo = (at: number) => {
    const place = Math.min(rows.length - 1, Math.max(0, at));
    wantsFocus.current = true;
    setActiveId(rows[place]?.memory.id ?? '');
    virtual.scrollToIndex(place);
  };
  const remove = (id: string) => {
    const going = selection.ids.has(id) ? [...selection.ids] : [id];
    const gone = new Set(going);
    const next =
      rows.slice(active).find(row => !gone.has(row.memory.id)) ?? rows.findLast(row => !gone.has(row.memory.id));
    wantsFocus.current = true;
    setActiveId(next?.memory.id ?? '');
    onDelete(going);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    if (!row || !(event.target instanceof HTMLElement) || event.target.getAttribute('role') !== 'row') return;
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + PAGE_ROWS,
      PageUp: active - PAGE_ROWS,
      Home: 0,
      End: rows.length - 1,
    };
    const acts: Record<string, () => void> = {
      Enter: () => onOpen(row.memory.id),
      ' ': () => selection.toggle(row.memory.id),
      Delete: () => remove(row.memory.id),
      ...(openId && { Escape: () => onOpen('') }),
    };
    const to = moves[event.key];
    if (to === undefined && !acts[event.key]) return;
    event.preventDefault();
    if (to === undefined) acts[event.key]?.();
    else moveTo(to);
  };

  return (
    // the keys are those of its rows
    // eslint-disable-next-line jsx-a11y/interactive-supports-focus
    <div
      ref={scroller}
      className={`${virtualRows.scroller} ${classes.grid}`}
      role="grid"
      aria-label="Memories"
      aria-rowcount={total + 1}
      aria-multiselectable
      data-look={isSearch ? 'search' : view}
      onKeyDown={onKeyDown}
    >
      <Header look={isSearch ? 'search' : view} rows={rows} selection={selection} />
      <div role="rowgroup" className={virtualRows.rows} style={{ height: virtual.getTotalSize() }}>
        {shown.map(item => {
          const row = rows[item.index];
          if (!row) return null;
          const { id } = row.memory;
          return (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className={virtualRows.row}
              style={{ transform: `translateY(${item.start}px)` }}
              role="presentation"
            >
              {row.heading && (
                <div className={classes.day} aria-hidden>
                  {row.heading}
                </div>
              )}
              <div
                role="row"
                aria-rowindex={item.index + 2}
                aria-selected={selection.ids.has(id)}
                className={classes.row}
                data-open={id === openId || undefined}
                data-active={item.index === active || undefined}
                tabIndex={item.index === active ? 0 : -1}
                onFocus={() => setActiveId(id)}
                onClick={() => onOpen(id)}
                onKeyDown={undefined}
              >
                <MemoryRow
                  row={row}
                  view={view}
                  query={query}
                  titles={titles}
                  isSelected={selection.ids.has(id)}
                  onSelect={selection.toggle}
                />
              </div>
            </div>
          );
        })}
      </div>
    </div>
  );
}

const COLUMNS = {
  search: ['From', 'Learned', 'Score'],
  table: ['From', 'Learned'],
  timeline: ['From'],
};

interface HeaderProps {
  look: keyof typeof COLUMNS;
  rows: Row[];
  selection: Selection;
}

function Header({ look, rows, selection }: HeaderProps) {
  const count = selection.ids.size;
  return (
    <div role="row" aria-rowindex={1} className={`${classes.row ?? ''} ${classes.header ?? ''}`}>
      <div role="columnheader" className={classes.check}>
        <Checkbox
          size="xs"
          checked={count > 0 && count === rows.length}
          indeterminate={count > 0 && count < rows.length}
          onChange={() => selection.set(count ? [] : rows.map(row => row.memory.id))}
          aria-label={count ? 'Select none' : 'Select all loaded'}
        />
      </div>
      {look === 'timeline' && (
        <div role="columnheader" className={classes.moment}>
          Time
        </div>
      )}
      <div role="columnheader" className={classes.text}>
        Memory
      </div>
      {COLUMNS[look].map(name => (
        <div key={name} role="columnheader" className={name === 'Score' ? classes.scoreCell : classes.column}>
          {name}
        </div>
      ))}
    </div>
  );
}

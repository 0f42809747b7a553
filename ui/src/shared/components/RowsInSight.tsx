import type { Virtualizer } from '@tanstack/react-virtual';
import type { HTMLAttributes, ReactNode } from 'react';
import classes from './VirtualRows.module.css';

interface RowsInSightProps {
  list: Virtualizer<HTMLDivElement, Element>;
  /** What the list is, for screen readers. */
  label: string;
  /** What the element around a row is given besides. */
  around: (at: number) => HTMLAttributes<HTMLDivElement>;
  /** The row at a place of the list; null where there is none. */
  children: (at: number) => ReactNode;
}

/** The rows of a virtual list that are in the page, each where it stands; they have the height they need. */
export function RowsInSight({ list, label, around, children }: RowsInSightProps) {
  return (
    <div role="list" aria-label={label} className={classes.rows} style={{ height: list.getTotalSize() }}>
      {list.getVirtualItems().map(({ index, key, start }) => {
        const row = children(index);
        return (
          row !== null && (
            <div
              key={key}
              ref={list.measureElement}
              data-index={index}
              role="listitem"
              {...around(index)}
              className={classes.row}
              style={{ transform: `translateY(${start}px)` }}
            >
              {row}
            </div>
          )
        );
      })}
    </div>
  );
}

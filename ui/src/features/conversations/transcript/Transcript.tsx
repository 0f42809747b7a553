import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import type { Message } from '../api/getMessages';
import type { MessageState } from '../window/states';
import { MessageCard } from './MessageCard';
import { siblingsOf, type Tree } from './tree';
import classes from './Transcript.module.css';

const ESTIMATE = 110; // pixels of a message before it is measured

interface TranscriptProps {
  conversation: string;
  tree: Tree;
  way: readonly Message[];
  /** The message that is brought into sight; none for the newest. */
  chosen: number | null;
  states?: ReadonlyMap<number, MessageState>;
  onBranch: (id: number) => void;
  onPin: (message: Message) => void;
  onCopyBranch: (id: number) => void;
}

/** One way through the tree, oldest message first. Only what is in sight is in the page, however long it is. */
export function Transcript({ conversation, tree, way, chosen, states, ...acts }: TranscriptProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const place = useMemo(() => new Map(way.map((message, at) => [message.id, at])), [way]);
  const rows = useVirtualizer({
    count: way.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATE,
    getItemKey: at => way[at]?.id ?? at,
    overscan: 4,
  });
  const at = chosen === null ? way.length - 1 : (place.get(chosen) ?? -1);
  const isAtChoice = chosen !== null;
  const show = useRef(rows);
  useLayoutEffect(() => {
    show.current = rows;
  });
  useEffect(() => {
    if (at >= 0) show.current.scrollToIndex(at, { align: isAtChoice ? 'center' : 'end' });
  }, [at, isAtChoice, conversation]);

  // a browser glides to the ends, and rows that are measured on the way would stop it
  useEffect(() => {
    const element = scroller.current;
    const jump = (event: KeyboardEvent) => {
      if (event.target !== element || (event.key !== 'Home' && event.key !== 'End')) return;
      event.preventDefault();
      const last = show.current.options.count - 1;
      show.current.scrollToIndex(event.key === 'Home' ? 0 : last, { align: event.key === 'Home' ? 'start' : 'end' });
    };
    element?.addEventListener('keydown', jump);
    return () => element?.removeEventListener('keydown', jump);
  }, []);

  return (
    <div ref={scroller} className={classes.scroller} tabIndex={0} role="group" aria-label="Transcript">
      <div role="list" aria-label="Messages" className={classes.rows} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(row => {
          const message = way[row.index];
          return (
            message && (
              <div
                key={row.key}
                ref={rows.measureElement}
                data-index={row.index}
                role="listitem"
                aria-setsize={way.length}
                aria-posinset={row.index + 1}
                className={classes.row}
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <MessageCard
                  conversation={conversation}
                  message={message}
                  siblings={siblingsOf(tree, message.id)}
                  isChosen={message.id === chosen}
                  state={states?.get(message.id)}
                  {...acts}
                />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

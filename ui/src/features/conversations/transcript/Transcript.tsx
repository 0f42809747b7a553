import { Button, Loader } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Message } from '../api/getMessages';
import type { TellState } from '../window/states';
import { MessageCard } from './MessageCard';
import classes from './Transcript.module.css';
import type { View } from './view';

const ESTIMATE = 110; // pixels of a message before it is measured
const NEAR = 6; // rows in front of an end of what is loaded

/** What goes on in front of the loaded messages, or behind them. */
export interface Further {
  state: 'none' | 'more' | 'loading' | 'failed';
  load: () => void;
}

interface TranscriptProps {
  conversation: string;
  /** What is loaded of the way, oldest first. */
  messages: readonly Message[];
  /** How many messages of the thread stand in front of them; null off the thread. */
  offset: number | null;
  /** How many messages the thread has. */
  total: number;
  view: View;
  /** Whether the messages are those of the view. */
  isReady: boolean;
  earlier: Further;
  later: Further;
  tellState?: TellState | undefined;
  onEnd: (end: 'start' | 'end') => void;
  onBranch: (id: number) => void;
  onPin: (message: Message) => void;
  onCopyBranch: (id: number) => void;
}

/** One way through the tree, oldest message first. Only what is in sight is in the page, however long it is. */
export function Transcript(props: TranscriptProps) {
  const { conversation, messages, offset, total, view, isReady, earlier, later, tellState, onEnd, ...acts } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [movedIn, setMovedIn] = useState<View | null>(null); // a view just opened shows no place of it yet
  const rows = useVirtualizer({
    count: messages.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATE,
    getItemKey: useCallback((at: number) => messages[at]?.id ?? at, [messages]),
    anchorTo: 'end', // what is read stays where it is, whatever is added at either side
    overscan: 4,
  });
  const now = useRef({ rows, messages, earlier, later, onEnd });
  useLayoutEffect(() => {
    now.current = { rows, messages, earlier, later, onEnd };
  });
  const chosen = view.message;
  useLayoutEffect(() => {
    const { rows: list, messages: loaded } = now.current;
    if (!isReady || loaded.length === 0) return;
    const found = view.show === 'message' ? loaded.findIndex(message => message.id === chosen) : -1;
    if (found >= 0) list.scrollToIndex(found, { align: 'center' });
    else if (view.show === 'start') list.scrollToIndex(0, { align: 'start' });
    else list.scrollToEnd();
  }, [isReady, chosen, view.around, view.show]);

  // a browser glides to the ends, and knows only those of what is loaded
  useEffect(() => {
    const element = scroller.current;
    const jump = (event: KeyboardEvent) => {
      if (event.target !== element || (event.key !== 'Home' && event.key !== 'End')) return;
      event.preventDefault();
      goTo(event.key === 'Home' ? 'start' : 'end', now.current);
    };
    element?.addEventListener('keydown', jump);
    return () => element?.removeEventListener('keydown', jump);
  }, []);

  const shown = rows.getVirtualItems();
  const hasMoved = isReady && movedIn === view;
  const isNearStart = hasMoved && (shown[0]?.index ?? NEAR) < NEAR;
  const isNearEnd = hasMoved && (shown.at(-1)?.index ?? 0) >= messages.length - NEAR;
  useEffect(() => {
    if (isNearStart && earlier.state === 'more') earlier.load();
  }, [isNearStart, earlier]);
  useEffect(() => {
    if (isNearEnd && later.state === 'more') later.load();
  }, [isNearEnd, later]);

  const isOfKnownLength = offset !== null && (messages.at(-1)?.on_thread ?? false);
  return (
    <div className={classes.frame}>
      <div
        ref={scroller}
        className={classes.scroller}
        tabIndex={0}
        role="group"
        aria-label="Transcript"
        aria-busy={!isReady}
        onScroll={() => {
          if (isReady) setMovedIn(view);
        }}
      >
        <div role="list" aria-label="Messages" className={classes.rows} style={{ height: rows.getTotalSize() }}>
          {shown.map(row => {
            const message = messages[row.index];
            const place = offset === null || !message?.on_thread ? null : offset + row.index;
            return (
              message && (
                <div
                  key={row.key}
                  ref={rows.measureElement}
                  data-index={row.index}
                  role="listitem"
                  aria-setsize={isOfKnownLength ? total : -1}
                  aria-posinset={(offset ?? 0) + row.index + 1}
                  className={classes.row}
                  style={{ transform: `translateY(${row.start}px)` }}
                >
                  <MessageCard
                    conversation={conversation}
                    message={message}
                    siblings={message.siblings}
                    isChosen={message.id === chosen}
                    state={place === null ? undefined : tellState?.(message, place)}
                    {...acts}
                  />
                </div>
              )
            );
          })}
        </div>
      </div>
      <More further={earlier} what="Earlier" isNear={isNearStart} />
      <More further={later} what="Later" isNear={isNearEnd} />
    </div>
  );
}

interface Now {
  rows: { scrollToIndex: (at: number, options: { align: 'start' }) => void; scrollToEnd: () => void };
  messages: readonly Message[];
  earlier: Further;
  later: Further;
  onEnd: (end: 'start' | 'end') => void;
}

/** The end of the way: one that is not loaded is loaded alone, unless the way has left the thread before. */
function goTo(end: 'start' | 'end', { rows, messages, earlier, later, onEnd }: Now): void {
  const isThread = messages.at(-1)?.on_thread ?? false;
  const isLoaded = (end === 'start' ? earlier : later).state === 'none';
  if (isThread && !isLoaded) onEnd(end);
  else if (end === 'start') rows.scrollToIndex(0, { align: 'start' });
  else rows.scrollToEnd();
}

function More({ further, what, isNear }: { further: Further; what: 'Earlier' | 'Later'; isNear: boolean }) {
  if (further.state === 'loading') {
    return (
      <div className={classes.more} data-what={what} role="status" aria-label={`${what} messages are loaded`}>
        <Loader size="xs" type="dots" aria-hidden />
      </div>
    );
  }
  if (further.state !== 'failed' || !isNear) return null;
  return (
    <div className={classes.more} data-what={what} role="alert">
      {what} messages could not be loaded.{' '}
      <Button size="compact-xs" variant="default" onClick={further.load}>
        Try again
      </Button>
    </div>
  );
}

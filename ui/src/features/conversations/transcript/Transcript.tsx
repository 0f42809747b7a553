import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { MoreMessages } from '@/shared/components/MoreMessages';
import { RowsInSight } from '@/shared/components/RowsInSight';
import virtual from '@/shared/components/VirtualRows.module.css';
import type { Message } from '@/shared/data/conversations/messages';
import type { Further } from '@/shared/data/further';
import type { TellState } from '../window/states';
import { MessageCard } from './MessageCard';
import classes from './Transcript.module.css';
import type { View } from './view';

const ESTIMATE = 110; // pixels of a message before it is measured
const NEAR = 6; // rows in front of an end of what is loaded

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
  older: Further;
  newer: Further;
  tellState?: TellState | undefined;
  onEnd: (end: 'start' | 'end') => void;
  onBranch: (id: number) => void;
  onPin: (message: Message) => void;
  onCopyBranch: (id: number) => void;
}

/** One way through the tree, oldest message first. Only what is in sight is in the page, however long it is. */
export function Transcript(props: TranscriptProps) {
  const { conversation, messages, offset, total, view, isReady, older, newer, tellState, onEnd, ...acts } = props;
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
  const now = useRef({ rows, messages, older, newer, onEnd });
  useLayoutEffect(() => {
    now.current = { rows, messages, older, newer, onEnd };
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

  const isOfKnownLength = offset !== null && (messages.at(-1)?.on_thread ?? false);
  return (
    <div className={virtual.frame}>
      <div
        ref={scroller}
        className={`${virtual.scroller} ${classes.transcript}`}
        tabIndex={0}
        role="group"
        aria-label="Transcript"
        aria-busy={!isReady}
        onScroll={() => {
          if (isReady) setMovedIn(view);
        }}
      >
        <RowsInSight
          list={rows}
          label="Messages"
          around={at => ({
            'aria-setsize': isOfKnownLength ? total : -1,
            'aria-posinset': (offset ?? 0) + at + 1,
          })}
        >
          {at => {
            const message = messages[at];
            if (!message) return null;
            const place = offset === null || !message.on_thread ? null : offset + at;
            return (
              <MessageCard
                conversation={conversation}
                message={message}
                siblings={message.siblings}
                isChosen={message.id === chosen}
                state={place === null ? undefined : tellState?.(message, place)}
                {...acts}
              />
            );
          }}
        </RowsInSight>
      </div>
      <MoreMessages list={rows} hasMoved={isReady && movedIn === view} near={NEAR} older={older} newer={newer} />
    </div>
  );
}

interface Now {
  rows: { scrollToIndex: (at: number, options: { align: 'start' }) => void; scrollToEnd: () => void };
  messages: readonly Message[];
  older: Further;
  newer: Further;
  onEnd: (end: 'start' | 'end') => void;
}

/** The end of the way: one that is not loaded is loaded alone, unless the way has left the thread before. */
function goTo(end: 'start' | 'end', { rows, messages, older, newer, onEnd }: Now): void {
  const isThread = messages.at(-1)?.on_thread ?? false;
  const isLoaded = (end === 'start' ? older : newer).state === 'none';
  if (isThread && !isLoaded) onEnd(end);
  else if (end === 'start') rows.scrollToIndex(0, { align: 'start' });
  else rows.scrollToEnd();
}

import { ActionIcon, Button, Loader, Tooltip, VisuallyHidden } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { TbArrowDown } from 'react-icons/tb';
import type { Message } from '../api/thread';
import { RowView } from './RowView';
import { type Row, rowsOf } from './rows';
import { isBusy } from './talk';
import classes from './Thread.module.css';
import type { Turn } from './turns';
import type { Talk } from './useTalk';

const ROW_HEIGHT = 140; // pixels, before it is measured
const AT_THE_END = 90; // pixels that still count as the end
const NEAR = 4; // rows in front of an end of what is loaded

/** What goes on in front of the messages, or behind them. */
export interface Further {
  state: 'none' | 'more' | 'loading' | 'failed';
  load: () => void;
}

const NOTHING: Further = { state: 'none', load: () => undefined };

interface ThreadProps {
  messages: Message[];
  turn: Turn | undefined;
  talk: Talk;
  /** The message to be looked at; null for the newest. */
  sought: number | null;
  older: Further;
  /** Of messages in the middle. */
  newer?: Further;
  /** Leads from the middle to the newest messages. */
  onNewest?: () => void;
}

/**
 * The messages, of which only those in sight are in the page. It stays with its end while this is in sight, and with
 * what is read otherwise, whatever is added at either side.
 */
export function Thread({ messages, turn, talk, sought, older, newer = NOTHING, onNewest }: ThreadProps) {
  const isEnd = newer.state === 'none';
  const scroller = useRef<HTMLDivElement>(null);
  const [hasBegun, setBegun] = useState(false);
  const rows = useRows(messages, turn, isEnd);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    getItemKey: useCallback((at: number) => rows[at]?.key ?? at, [rows]),
    anchorTo: 'end',
    followOnAppend: isEnd,
    scrollEndThreshold: AT_THE_END,
    overscan: 4,
  });
  const shown = list.getVirtualItems();

  const hasRows = rows.length > 0;
  useLayoutEffect(() => {
    if (hasRows) list.scrollToEnd();
  }, [hasRows, list]);
  // a turn's rows give way to stored ones with other keys, so that nothing is left to be anchored to
  const wasAtEnd = useRef(true);
  const hasTurned = useRef(false);
  useLayoutEffect(() => {
    if (hasTurned.current && wasAtEnd.current) list.scrollToEnd();
    if (turn) hasTurned.current = true;
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only when the rows are others
  }, [rows, list]);
  useEffect(() => {
    wasAtEnd.current = list.isAtEnd(AT_THE_END);
  });
  const soughtAt = sought === null ? -1 : rows.findIndex(row => row.key === String(sought));
  const isFound = soughtAt >= 0;
  const place = useRef(soughtAt);
  useLayoutEffect(() => {
    place.current = soughtAt;
  }, [soughtAt]);
  useLayoutEffect(() => {
    if (isFound) list.scrollToIndex(place.current, { align: 'center' });
  }, [isFound, sought, list]);
  const isAsking = turn?.state === 'asking';
  useEffect(() => {
    if (!isAsking) return;
    list.scrollToEnd();
    // a button that began this may be gone, and the focus with it
    if (document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
  }, [isAsking, list]);

  const isNearStart = hasBegun && (shown[0]?.index ?? NEAR) < NEAR;
  const isNearEnd = hasBegun && (shown.at(-1)?.index ?? 0) >= rows.length - NEAR;
  useEffect(() => {
    if (isNearStart && older.state === 'more') older.load();
  }, [isNearStart, older]);
  useEffect(() => {
    if (isNearEnd && newer.state === 'more') newer.load();
  }, [isNearEnd, newer]);

  const isAway = !isEnd || (hasBegun && !list.isAtEnd(AT_THE_END));
  return (
    <div className={classes.frame}>
      <div
        ref={scroller}
        className={classes.scroller}
        role="region"
        aria-label="Messages"
        tabIndex={0}
        onScroll={() => setBegun(true)}
      >
        <div role="list" aria-label="Messages" className={classes.rows} style={{ height: list.getTotalSize() }}>
          {shown.map(({ index, key, start }) => {
            const row = rows[index];
            return (
              row && (
                <div
                  key={key}
                  ref={list.measureElement}
                  data-index={index}
                  role="listitem"
                  className={classes.row}
                  aria-current={index === soughtAt || undefined}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <RowView row={row} turn={isOfTurn(row) ? turn : undefined} talk={talk} isBusy={isBusy(turn)} />
                </div>
              )
            );
          })}
        </div>
      </div>
      <More further={older} what="earlier" isNear={isNearStart} />
      <More further={newer} what="later" isNear={isNearEnd} />
      {isAway && (
        <Tooltip label="Jump to newest">
          <ActionIcon
            className={classes.jump}
            variant="default"
            radius="xl"
            size="lg"
            aria-label="Jump to newest"
            onClick={() => (isEnd ? list.scrollToEnd() : onNewest?.())}
          >
            <TbArrowDown size={18} />
          </ActionIcon>
        </Tooltip>
      )}
      <VisuallyHidden role="status">{isBusy(turn) ? 'Answering' : ''}</VisuallyHidden>
    </div>
  );
}

function More({ further, what, isNear }: { further: Further; what: 'earlier' | 'later'; isNear: boolean }) {
  if (further.state === 'loading') {
    return (
      <div className={classes.more} data-what={what} role="status" aria-label={`Loading ${what} messages`}>
        <Loader size="xs" type="dots" aria-hidden />
      </div>
    );
  }
  if (further.state !== 'failed' || !isNear) return null;
  return (
    <div className={classes.more} data-what={what} role="alert">
      {what === 'earlier' ? 'Earlier' : 'Later'} messages could not be loaded.{' '}
      <Button size="compact-xs" variant="default" onClick={further.load}>
        Try again
      </Button>
    </div>
  );
}

/** The same rows while an answer grows: where each stands is worked out again when there are others. */
function useRows(messages: Message[], turn: Turn | undefined, isEnd: boolean): Row[] {
  const question = turn?.question;
  const state = turn?.state ?? 'asking';
  const again = turn?.again ?? null;
  const isKept = turn?.isKept ?? false;
  return useMemo(
    () => rowsOf(messages, question && { question, state, again, isKept }, isEnd),
    [messages, question, state, again, isKept, isEnd],
  );
}

function isOfTurn({ kind }: Row): boolean {
  return kind === 'question' || kind === 'answer' || kind === 'failure';
}

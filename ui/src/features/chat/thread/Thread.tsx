import { ActionIcon, Tooltip, VisuallyHidden } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { TbArrowDown } from 'react-icons/tb';
import { MoreMessages } from '@/shared/components/MoreMessages';
import { RowsInSight } from '@/shared/components/RowsInSight';
import virtual from '@/shared/components/VirtualRows.module.css';
import type { Message } from '@/shared/data/conversations/messages';
import { type Further, NOTHING_FURTHER } from '@/shared/data/further';
import { RowView } from './RowView';
import { type Row, rowsOf } from './rows';
import { isBusy } from './talk';
import classes from './Thread.module.css';
import type { Turn } from './turns';
import type { Talk } from './useTalk';

const ROW_HEIGHT = 140; // pixels, before it is measured
const AT_THE_END = 90; // pixels that still count as the end
const NEAR = 4; // rows in front of an end of what is loaded

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
export function Thread({ messages, turn, talk, sought, older, newer = NOTHING_FURTHER, onNewest }: ThreadProps) {
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

  const isAway = !isEnd || (hasBegun && !list.isAtEnd(AT_THE_END));
  return (
    <div className={`${virtual.frame} ${classes.frame}`}>
      <div
        ref={scroller}
        className={`${virtual.scroller} ${classes.scroller}`}
        role="region"
        aria-label="Messages"
        tabIndex={0}
        onScroll={() => setBegun(true)}
      >
        <RowsInSight list={list} label="Messages" around={at => ({ 'aria-current': at === soughtAt || undefined })}>
          {at => {
            const row = rows[at];
            if (!row) return null;
            return <RowView row={row} turn={isOfTurn(row) ? turn : undefined} talk={talk} isBusy={isBusy(turn)} />;
          }}
        </RowsInSight>
      </div>
      <MoreMessages list={list} hasMoved={hasBegun} near={NEAR} older={older} newer={newer} />
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

/** The same rows while an answer grows: where each stands is worked out again when there are others. */
function useRows(messages: Message[], turn: Turn | undefined, isEnd: boolean): Row[] {
  const question = turn?.question;
  const state = turn?.state ?? 'asking';
  const again = turn?.again ?? null;
  const isKept = turn?.isKept ?? false;
  const runId = turn?.runId ?? '';
  const hasText = (turn?.text ?? '') !== '';
  return useMemo(
    () => rowsOf(messages, question && { question, state, again, isKept, runId, hasText }, isEnd),
    [messages, question, state, again, isKept, runId, hasText, isEnd],
  );
}

function isOfTurn({ kind }: Row): boolean {
  return kind !== 'message' && kind !== 'unanswered';
}

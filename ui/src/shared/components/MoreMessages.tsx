import { Button, Loader } from '@mantine/core';
import type { Virtualizer } from '@tanstack/react-virtual';
import { useEffect } from 'react';
import type { Further } from '../data/further';
import classes from './VirtualRows.module.css';

interface MoreMessagesProps {
  list: Virtualizer<HTMLDivElement, Element>;
  /** Whether somebody has scrolled: a list that was just opened shows no place of it yet. */
  hasMoved: boolean;
  /** Rows from an end of what is loaded at which more is loaded. */
  near: number;
  older: Further;
  newer: Further;
}

/** Loads more messages where one comes near an end of those in the list, and says how that goes. */
export function MoreMessages({ list, hasMoved, near, older, newer }: MoreMessagesProps) {
  const shown = list.getVirtualItems();
  const isNearStart = hasMoved && (shown[0]?.index ?? near) < near;
  const isNearEnd = hasMoved && (shown.at(-1)?.index ?? 0) >= list.options.count - near;
  return (
    <>
      <More further={older} what="earlier" isNear={isNearStart} />
      <More further={newer} what="later" isNear={isNearEnd} />
    </>
  );
}

function More({ further, what, isNear }: { further: Further; what: 'earlier' | 'later'; isNear: boolean }) {
  useEffect(() => {
    if (isNear && further.state === 'more') further.load();
  }, [isNear, further]);

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

import { useMemo, useState } from 'react';
import { useWeekBefore } from '@/shared/data/memories/week';
import type { Scope } from '@/shared/data/scope';
import { readSeen } from './seen';
import { type Card, cardsOf } from './week';

/** The cards of the last seven days, as they were when the review began: what is decided meanwhile takes none away. */
export function useWeek(owner: Scope) {
  const [now] = useState(() => Date.now());
  const [seen] = useState(() => readSeen(owner));
  const week = useWeekBefore(owner, now);
  const { data } = week;
  const cards = useMemo<Card[]>(() => (data ? cardsOf({ ...data, seen, now }) : []), [data, seen, now]);
  return { ...week, cards };
}

import { useEffect, useReducer } from 'react';

const EVERY_MS = 1000;

/** Renders anew every second while it is wanted: for what shows how long something has taken so far. */
export function useTicking(isWanted: boolean): void {
  const [, tick] = useReducer((ticks: number) => ticks + 1, 0);
  useEffect(() => {
    if (!isWanted) return;
    const timer = setInterval(tick, EVERY_MS);
    return () => clearInterval(timer);
  }, [isWanted]);
}

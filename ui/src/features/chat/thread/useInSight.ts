import { useEffect, useState } from 'react';

const IN_SIGHT_MS = 200; // before more about it is asked for: rows fly by while one scrolls

/** Whether the row has been in sight for a moment. */
export function useInSight(): boolean {
  const [isInSight, setInSight] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setInSight(true), IN_SIGHT_MS);
    return () => clearTimeout(timer);
  }, []);
  return isInSight;
}

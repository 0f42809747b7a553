import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

export interface Selection {
  ids: ReadonlySet<string>;
  /** The same function each time. */
  toggle: (id: string) => void;
  set: (ids: string[]) => void;
}

/** Which of the rows are selected; rows that are not there any more are none of it. */
export function useSelection(present: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const ids = useMemo(
    () => (chosen.size === 0 ? chosen : new Set(present.filter(id => chosen.has(id)))),
    [present, chosen],
  );
  const latest = useRef(ids);
  useEffect(() => {
    latest.current = ids;
  });
  const toggle = useCallback((id: string) => {
    const ids = latest.current;
    setChosen(ids.has(id) ? new Set([...ids].filter(each => each !== id)) : new Set([...ids, id]));
  }, []);
  return { ids, toggle, set: wanted => setChosen(new Set(wanted)) };
}

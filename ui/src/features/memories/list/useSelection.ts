import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

export interface Selection {
  ids: ReadonlySet<string>;
  /** The same function each time. */
  toggle: (id: string) => void;
  set: (ids: string[]) => void;
}

/** Which of the rows are selected; one that was away is not when it comes back. */
export function useSelection(present: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const ids = useMemo(
    () => (chosen.size === 0 ? chosen : new Set(present.filter(id => chosen.has(id)))),
    [present, chosen],
  );
  if (ids.size < chosen.size) setChosen(ids);
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

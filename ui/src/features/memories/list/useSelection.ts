import { useMemo, useState } from 'react';

export interface Selection {
  ids: ReadonlySet<string>;
  toggle: (id: string) => void;
  set: (ids: string[]) => void;
}

/** Which of the rows are selected; rows that are not there any more are none of it. */
export function useSelection(present: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const ids = useMemo(() => new Set(present.filter(id => chosen.has(id))), [present, chosen]);
  return {
    ids,
    toggle: id => setChosen(ids.has(id) ? new Set([...ids].filter(each => each !== id)) : new Set([...ids, id])),
    set: wanted => setChosen(new Set(wanted)),
  };
}

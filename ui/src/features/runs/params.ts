import { useSearchParams } from 'react-router';
import type { RunFilters, RunStatus } from './api/runs';

const STATUSES: readonly string[] = ['running', 'finished', 'failed', 'cancelled'] satisfies RunStatus[];

/** What of the page is in its address. */
export interface RunsState {
  id: string;
  /** Place of the chosen node among all nodes of the run; null for the one that answered. */
  node: number | null;
  compare: readonly [string, string] | null;
  filters: RunFilters;
}

type Change = Record<string, string | null>;

/** The state of the page, and a way to change some of it; a change of the run can be taken back with Back. */
export function useRunsState(): [RunsState, (change: Change, replace?: boolean) => void, (change: Change) => string] {
  const [params, setParams] = useSearchParams();
  const get = (name: string) => params.get(name) ?? '';

  const changed = (change: Change) => {
    const next = new URLSearchParams(params);
    for (const [name, value] of Object.entries(change)) {
      if (value) next.set(name, value);
      else next.delete(name);
    }
    return next;
  };

  const node = get('node');
  const [first, second] = get('compare').split(',');
  const status = get('status');
  const state: RunsState = {
    id: get('id'),
    node: /^\d{1,6}$/.test(node) ? Number(node) : null,
    compare: first && second ? [first, second] : null,
    filters: {
      status: STATUSES.includes(status) ? (status as RunStatus) : '',
      workflow: get('workflow'),
      conversation: get('conversation'),
      user: get('user'),
      error: get('error'),
      since: get('since'),
    },
  };
  return [
    state,
    (change, replace = false) => setParams(changed(change), { replace }),
    change => `?${changed(change).toString()}`,
  ];
}

import type { RunFilters, RunStatus } from '@/shared/data/runs/runs';
import { changed, type ParamChanges, useAddressParams } from '@/shared/hooks/useAddressParams';

const STATUSES: readonly string[] = ['running', 'finished', 'failed', 'cancelled'] satisfies RunStatus[];

/** What of the page is in its address. */
export interface RunsState {
  id: string;
  /** Place of the chosen node among all nodes of the run; null for the one that answered. */
  node: number | null;
  compare: readonly [string, string] | null;
  filters: RunFilters;
}

/** The state of the page, and a way to change some of it; a change of the run can be taken back with Back. */
export function useRunsState(): [
  RunsState,
  (changes: ParamChanges, replace?: boolean) => void,
  (changes: ParamChanges) => string,
] {
  const { params, change } = useAddressParams();
  const get = (name: string) => params.get(name) ?? '';

  const node = get('node');
  const [first, second] = get('compare').split(',');
  const status = get('status');
  const state: RunsState = {
    id: get('id'),
    node: /^\d{1,6}$/.test(node) ? Number(node) : null,
    compare: first && second ? [first, second] : null,
    filters: {
      status: STATUSES.includes(status) ? (status as RunStatus) : '',
      q: get('q'),
      workflow: get('workflow'),
      conversation: get('conversation'),
      user: get('user'),
      error: get('error'),
      since: get('since'),
    },
  };
  return [
    state,
    (changes, replace = false) => change(changes, { replace }),
    changes => `?${changed(params, changes).toString()}`,
  ];
}

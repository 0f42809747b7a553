import { type InfiniteData, type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { send } from '@/shared/api/client';
import { serverEvents } from '@/shared/api/sse';
import type { components } from '@/shared/api/schema';
import { pause } from '../pause';
import { runKeys as keys } from './keys';
import type { RunWhole } from './run';
import type { RunFilters, RunListed } from './runs';

type RunNodeMoved = components['schemas']['NodeMoved'];
type Told = RunListed | RunNodeMoved;

interface Page {
  results: RunListed[];
  next: string | null;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const GATHERING_MS = 200; // nodes may come and go faster than a run can be read

/**
 * Follows the feed of runs and keeps the list of these filters, and the runs that are shown, up to date. After a break
 * they are read anew. Tells whether the feed is there.
 */
export function useLiveRuns(filters: RunFilters, isWanted: boolean): boolean {
  const queries = useQueryClient();
  const [isLive, setLive] = useState(false);
  const key = JSON.stringify(filters);

  useEffect(() => {
    if (!isWanted) return;
    const leaving = new AbortController();
    void followOn(queries, JSON.parse(key) as RunFilters, setLive, leaving.signal);
    return () => {
      leaving.abort();
      setLive(false);
    };
  }, [queries, key, isWanted]);
  return isLive;
}

async function followOn(
  queries: QueryClient,
  filters: RunFilters,
  setLive: (isLive: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  const changed = new Gathered(id => void queries.invalidateQueries({ queryKey: keys.one(id) }), GATHERING_MS);
  while (!signal.aborted) {
    try {
      const { body } = await send('/api/runs/live?nodes=true', { signal });
      setLive(true);
      waitMs = FIRST_WAIT_MS;
      // what happened before the feed was there
      void queries.invalidateQueries({ queryKey: keys.list(filters) });
      void queries.invalidateQueries({ queryKey: keys.whole, predicate: isUnderWay });
      if (body)
        for await (const data of serverEvents(body)) {
          const told = JSON.parse(data) as Told;
          if ('run_id' in told) changed.add(told.run_id);
          else take(queries, filters, told);
        }
    } catch {
      // the server is away, or all places to follow are taken: the page says that it is not live
    }
    await pause(waitMs, signal, () => setLive(false));
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

function take(queries: QueryClient, filters: RunFilters, run: RunListed): void {
  const queryKey = keys.list(filters);
  const put = () => queries.setQueryData<InfiniteData<Page>>(queryKey, data => data && withRun(data, filters, run));
  put();
  // a list that is on its way may be older than the run, and takes the place of what is there
  const list = { queryKey, exact: true };
  if (queries.isFetching(list)) void queries.refetchQueries(list, { cancelRefetch: false }).then(put);
  void queries.invalidateQueries({ queryKey: keys.one(run.id) });
}

function isUnderWay({ state }: Query): boolean {
  return (state.data as RunWhole | undefined)?.status === 'running';
}

/** Hands on each name once, a little later, however often it comes meanwhile. */
export class Gathered {
  readonly #names = new Set<string>();
  readonly #handOn: (name: string) => void;
  readonly #afterMs: number;

  constructor(handOn: (name: string) => void, afterMs: number) {
    this.#handOn = handOn;
    this.#afterMs = afterMs;
  }

  add(name: string): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    setTimeout(() => {
      this.#names.delete(name);
      this.#handOn(name);
    }, this.#afterMs);
  }
}

/** The pages with the run as it is now: in its place, at the top when it is new, or gone when it fits no more. */
export function withRun(data: InfiniteData<Page>, filters: RunFilters, run: RunListed): InfiniteData<Page> {
  const isListed = data.pages.some(page => page.results.some(listed => listed.id === run.id));
  const pages = data.pages.map((page, at) => {
    if (isListed) return { ...page, results: page.results.flatMap(listed => replaced(listed, filters, run)) };
    return at === 0 && fits(run, filters) ? { ...page, results: [run, ...page.results] } : page;
  });
  return { ...data, pages };
}

function replaced(listed: RunListed, filters: RunFilters, run: RunListed): RunListed[] {
  if (listed.id !== run.id) return [listed];
  return fits(run, filters) ? [run] : [];
}

function fits(run: RunListed, { q, status, workflow, conversation, user, error, since }: RunFilters): boolean {
  const question = folded(run.question);
  return (
    folded(q)
      .split(/\s+/)
      .every(word => question.includes(word)) &&
    (!status || run.status === status) &&
    (!workflow.trim() || run.workflow.toLowerCase() === workflow.trim().toLowerCase()) &&
    (!conversation.trim() || run.conversation === conversation.trim()) &&
    (!user.trim() || run.user === user.trim() || run.user_id === user.trim()) &&
    (!error.trim() || (run.error?.toLowerCase().includes(error.trim().toLowerCase()) ?? false)) &&
    (!since || Date.parse(run.started_at) >= Date.parse(since))
  );
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

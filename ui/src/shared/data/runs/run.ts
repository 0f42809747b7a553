import { useQuery } from '@tanstack/react-query';
import { client, orNull, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { runKeys as keys } from './keys';

export type RunWhole = components['schemas']['RunWhole'];
export type RunWorkflow = components['schemas']['RunWorkflow'];
export type RunNode = components['schemas']['RunNode'];
export type PromptMessage = components['schemas']['RunPromptMessage'];
export type RunVariable = components['schemas']['RunVariable'];
export type RunMemories = components['schemas']['RunMemories'];
export type Remembering = components['schemas']['RunRemembering'];
export type RunShort = components['schemas']['RunShort'];

const EVERY_MS = 1000;
const EVERY_FOLLOWED_MS = 15_000; // a feed that is slow to be read leaves events out
const SUMMARY_MS = 1_500;
const MEMORIES_MS = 2_000;

/**
 * One run with all of its nodes. Of one under way the feed tells when it has changed; where `isFollowed` is false, its
 * state is asked for every second. Without an id nothing is asked for.
 */
export function useRun(id: string, isFollowed = false) {
  const everyMs = isFollowed ? EVERY_FOLLOWED_MS : EVERY_MS;
  return useQuery({
    queryKey: keys.one(id),
    queryFn: () => unwrap(client.GET('/api/runs/{run_id}', { params: { path: { run_id: id } } })),
    enabled: id !== '',
    refetchInterval: query => (query.state.data?.status === 'running' ? everyMs : false),
    staleTime: query => (query.state.data?.status === 'running' ? 0 : 60_000),
  });
}

/** What a run did, in short; null for one that is not kept any longer. Asked again while it goes on. */
export function useRunSummary(runId: string | null, { enabled = true } = {}) {
  const id = runId ?? '';
  return useQuery({
    queryKey: keys.summary(id),
    queryFn: () =>
      orNull(unwrap(client.GET('/api/runs/{run_id}/summary', { params: { path: { run_id: id } } })), 404),
    enabled: enabled && id !== '',
    staleTime: query => (query.state.data?.status === 'running' ? 0 : Infinity),
    refetchInterval: query => (query.state.data?.status === 'running' ? SUMMARY_MS : false),
  });
}

/** What a run wrote to memory, and what is learned from it behind the answer: asked for again until that is done. */
export function useRunMemories(id: string, isWanted: boolean) {
  return useQuery({
    queryKey: keys.memories(id),
    queryFn: () => unwrap(client.GET('/api/runs/{run_id}/memories', { params: { path: { run_id: id } } })),
    enabled: isWanted,
    refetchInterval: query => (query.state.data?.written.some(isOpen) ? MEMORIES_MS : false),
  });
}

const isOpen = (written: Remembering) => written.state === 'waiting' || written.state === 'running';

/** The request of a run, or of one of its nodes, as a command line. */
export function useRunCommand(id: string, node: number | null, isWanted: boolean) {
  const query = node === null ? {} : { node };
  return useQuery({
    queryKey: keys.command(id, node),
    queryFn: () => unwrap(client.GET('/api/runs/{run_id}/curl', { params: { path: { run_id: id }, query } })),
    enabled: isWanted,
  });
}

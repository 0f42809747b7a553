import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { send } from '@/shared/api/client';
import { useSilence } from '@/shared/api/silence';

/** What the server tells without a key. `user` and `project` are its defaults. */
export interface About {
  version: string;
  project: string;
  user: string;
  needs_key: boolean;
}

export function useAbout() {
  return useQuery({
    queryKey: ['about'],
    queryFn: async () => (await send('/api/ui')).json() as Promise<About>,
    staleTime: Infinity,
  });
}

interface Health {
  llm: 'configured' | 'missing';
}

const PAUSE_MS = 2000;

/**
 * Whether the server has left the last request without an answer. While the page is in sight, it is asked again and
 * again then; when it answers, all that is shown is read anew.
 */
export function useIsSilent(): boolean {
  const isSilent = useSilence();
  const queries = useQueryClient();
  const wasSilent = useRef(false);
  useQuery({
    queryKey: ['silence'],
    queryFn: async () => (await send('/health')).ok,
    enabled: isSilent,
    refetchInterval: PAUSE_MS,
    retry: false,
  });
  useEffect(() => {
    if (wasSilent.current && !isSilent) void queries.invalidateQueries();
    wasSilent.current = isSilent;
  }, [isSilent, queries]);
  return isSilent;
}

/** Whether a language model is connected; without one the built-in one quotes what it remembers. */
export function useHealth() {
  return useQuery({
    queryKey: ['health'],
    queryFn: async () => (await send('/health')).json() as Promise<Health>,
    staleTime: 60_000,
  });
}

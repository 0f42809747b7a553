import { useQuery } from '@tanstack/react-query';
import { send } from '@/shared/api/client';

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

/** Whether a language model is connected; without one the built-in one quotes what it remembers. */
export function useHealth() {
  return useQuery({
    queryKey: ['health'],
    queryFn: async () => (await send('/health')).json() as Promise<Health>,
    staleTime: 60_000,
  });
}

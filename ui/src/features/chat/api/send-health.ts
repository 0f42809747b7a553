import { useQuery } from '@tanstack/react-query';
import { send } from '@/shared/api/client';

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

import { useQuery } from '@tanstack/react-query';
import { send } from './client';

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

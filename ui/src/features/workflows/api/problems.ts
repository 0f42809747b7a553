import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type ConfigProblems = components['schemas']['ConfigProblems'];
export type ConfigProblem = components['schemas']['Problem'];

/** What is wrong with the tree, as the server checks it. */
export function useConfigProblems() {
  return useQuery({
    queryKey: ['workflows', 'problems'],
    queryFn: () => unwrap(client.GET('/api/workflows/problems')),
  });
}

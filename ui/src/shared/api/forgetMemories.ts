import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from './client';

/** Whose memories, in which project. */
export interface MemoryOwner {
  user: string;
  project: string;
}

/** Forgets every memory of the user, with its past and the traces of runs. Nothing brings them back. */
export function useForgetMemories({ user, project }: MemoryOwner) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(client.DELETE('/api/memories', { params: { query: { user_id: user, project } } })),
    onSettled: () => queries.invalidateQueries(),
  });
}

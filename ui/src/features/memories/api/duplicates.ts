import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { MEMORIES, type Owner } from './keys';

export type DuplicateGroup = components['schemas']['DuplicateGroup'];

/** Groups of facts that say nearly the same. It takes the server a second or two for many. */
export function useDuplicates({ user, project }: Owner) {
  return useQuery({
    queryKey: [...MEMORIES, 'duplicates', user, project],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/memories/duplicates', { params: { query: { user_id: user, project } }, signal })),
  });
}

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import type { Scope } from '../scope';
import { memoryKeys as keys } from './keys';
import { type Conditions, queryOf } from './list';

export type MemoriesMap = components['schemas']['MemoriesMap'];
export type MapPoint = components['schemas']['MapPoint'];
export type MapGroup = components['schemas']['MapGroup'];

/** Where the memories that meet the conditions lie among each other. */
export function useMemoryMap(scope: Scope, conditions: Conditions) {
  return useQuery({
    queryKey: [...keys.map(scope), conditions],
    queryFn: ({ signal }) => {
      const query = { project: scope.project, ...queryOf(conditions) };
      const params = { path: { user_id: scope.user }, query };
      return unwrap(client.GET('/api/memories/{user_id}/map', { params, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

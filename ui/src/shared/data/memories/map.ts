import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import type { Scope } from '../scope';
import { memoryKeys as keys } from './keys';
import { type Conditions, queryOf } from './list';

export type MemoriesMap = components['schemas']['MemoriesMap'];
export type MapPoint = components['schemas']['MapPoint'];
export type MapGroup = components['schemas']['MapGroup'];

export function mapOf({ user, project }: Scope, conditions: Conditions | null, signal: AbortSignal) {
  const params = { path: { user_id: user }, query: { project, ...(conditions && queryOf(conditions)) } };
  return unwrap(client.GET('/api/memories/{user_id}/map', { params, signal }));
}

/** Where the memories that meet the conditions lie among each other. */
export function useMemoryMap(scope: Scope, conditions: Conditions) {
  return useQuery({
    queryKey: [...keys.map(scope), conditions],
    queryFn: ({ signal }) => mapOf(scope, conditions, signal),
    placeholderData: keepPreviousData,
  });
}

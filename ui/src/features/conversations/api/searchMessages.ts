import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import type { Mode, Role } from '../address';
import { keys, useScope } from './scope';

export type Found = components['schemas']['FoundMessage'];

export interface Asked {
  q: string;
  mode: Mode;
  role: Role | '';
  since: string;
  until: string;
}

const MOST_FOUND = 100;
const DAY_MS = 86_400_000;

/** Messages of all branches of all conversations, best first. */
export function useFoundMessages({ q, mode, role, since, until }: Asked) {
  const scope = useScope();
  const query = {
    ...scope,
    q,
    mode,
    limit: MOST_FOUND,
    related: true,
    ...(role && { role }),
    ...(since && { since: localMidnight(since).toISOString() }),
    ...(until && { until: new Date(localMidnight(until).getTime() + DAY_MS).toISOString() }),
  };
  return useQuery({
    queryKey: [...keys.all, 'found', query],
    queryFn: ({ signal }) => unwrap(client.GET('/api/conversations/search', { params: { query }, signal })),
    enabled: q.trim() !== '',
    placeholderData: keepPreviousData,
  });
}

function localMidnight(day: string): Date {
  return new Date(`${day}T00:00:00`);
}

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { inScope, useScope } from '../scope';
import { conversationKeys as keys } from './keys';

export type FoundMessage = components['schemas']['FoundMessage'];
export type FoundMessages = components['schemas']['FoundMessages'];
export type Mode = 'hybrid' | 'keyword' | 'semantic';
export type Role = 'user' | 'assistant' | 'system' | 'tool';

interface Asked {
  q: string;
  limit: number;
  mode?: Mode;
  role?: Role | '';
  /** Days, `2026-11-22`; both count in. */
  since?: string;
  until?: string;
}

const DAY_MS = 86_400_000;

/** Messages of all branches of all conversations that hold these words or mean the same, best first. */
export function useFoundMessages({ q, limit, mode, role, since, until }: Asked) {
  const scope = useScope();
  const query = {
    q,
    limit,
    related: true,
    ...(mode && { mode }),
    ...(role && { role }),
    ...(since && { since: localMidnight(since).toISOString() }),
    ...(until && { until: new Date(localMidnight(until).getTime() + DAY_MS).toISOString() }),
  };
  return useQuery({
    queryKey: [...keys.found(scope), query],
    queryFn: ({ signal }) =>
      unwrap(client.GET('/api/conversations/search', { params: { query: { ...inScope(scope), ...query } }, signal })),
    enabled: q.trim() !== '',
    placeholderData: keepPreviousData,
  });
}

function localMidnight(day: string): Date {
  return new Date(`${day}T00:00:00`);
}

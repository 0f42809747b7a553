import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';

export type LatencySeries = components['schemas']['LatencySeries'];
export type LatencyStep = components['schemas']['LatencyStep'];
export type Span = LatencySeries['span'];

const AGAIN_MS = 5_000;

/** How long recalls and writes took: by the minute for an hour, by quarters of an hour for a day. */
export function useLatencies(span: Span) {
  return useQuery({
    queryKey: ['status', 'latencies', span],
    queryFn: () => unwrap(client.GET('/api/status/latencies', { params: { query: { span } } })),
    refetchInterval: AGAIN_MS,
    placeholderData: keepPreviousData,
  });
}

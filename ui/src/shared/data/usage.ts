import { useQuery } from '@tanstack/react-query';
import { orNull, send } from '@/shared/api/client';

/** What a user, or with `user` null a whole tenant, has used of something. `limit` is null without a quota. */
export interface Use {
  tenant: string;
  user: string | null;
  what: string;
  used: number;
  limit: number | null;
  /** null for what is stored, which only deleting makes less. */
  resets_at: string | null;
}

/** How many requests of a kind the caller's key may still make. */
export interface BucketState {
  bucket: string;
  limit: number;
  remaining: number;
  reset_s: number;
}

export interface Usage {
  period: { day: string; month: string };
  results: Use[];
  buckets: BucketState[];
}

const USAGE_MS = 10_000;

/** What is stored and used, as far as the caller may see it; null on a server that does not count. */
export function useUsage() {
  return useQuery({
    queryKey: ['usage'],
    queryFn: () => orNull(usage(), 404),
    refetchInterval: USAGE_MS,
  });
}

async function usage(): Promise<Usage> {
  return (await send('/api/usage')).json() as Promise<Usage>;
}

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '@/shared/settings/settings';
import type { Place } from './thread';

const PAGE = 60;

interface At {
  around?: number;
  cursor?: string;
}

export const pastKey = ({ user, project, conversation }: Place) => ['past', user, project, conversation] as const;

/** The messages around one that is far from the newest, and from there in both directions; null for none. */
export function usePast(conversation: string, message: number | null) {
  const { user, project } = useSettings();
  const begin: At = { around: message ?? 0 };
  const past = useInfiniteQuery({
    queryKey: [...pastKey({ user, project, conversation }), message],
    enabled: message !== null,
    initialPageParam: begin,
    queryFn: ({ pageParam, signal }) => {
      const query = { user_id: user, project, limit: PAGE, ...pageParam };
      const params = { path: { id: conversation }, query };
      return unwrap(client.GET('/api/conversations/{id}/messages', { params, signal }));
    },
    getPreviousPageParam: (first): At | null => (first.next === null ? null : { cursor: first.next }),
    getNextPageParam: (last): At | null => (last.newer === null ? null : { cursor: last.newer }),
    placeholderData: keepPreviousData,
  });
  const { data } = past;
  const messages = useMemo(() => data?.pages.flatMap(page => page.results) ?? [], [data]);
  return { ...past, messages };
}

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import type { Scope } from '../scope';
import { memoryKeys as keys } from './keys';

export type RecallPreview = components['schemas']['RecallPreview'];
export type RecalledLine = components['schemas']['WouldBeRecalled'];

/** What a new chat would be given for a question; nothing is asked for "". */
export function useRecallPreview({ user, project }: Scope, question: string) {
  return useQuery({
    queryKey: [...keys.recall({ user, project }), question],
    queryFn: ({ signal }) => {
      const body = { query: question, user_id: user };
      return unwrap(client.POST('/api/memories/recall', { params: { query: { project } }, body, signal }));
    },
    placeholderData: keepPreviousData,
    enabled: question !== '',
  });
}

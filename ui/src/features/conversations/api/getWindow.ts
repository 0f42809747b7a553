import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import type { Strategy } from '../address';
import { keys, pathSerializer, type Scope, useScope } from './scope';

export type Window = components['schemas']['WindowAnswer'];
export type WindowPart = components['schemas']['WindowPartAnswer'];

export interface WantedWindow {
  /** "" and null: as the server's settings say. */
  strategy: Strategy | '';
  budget: number | null;
  question: string;
}

/** What a model would be shown, with the summary there is: looking asks no model. */
export function useWindow(id: string, wanted: WantedWindow) {
  const scope = useScope();
  return useQuery({
    queryKey: [...keys.of(scope, id), 'window', wanted],
    queryFn: ({ signal }) => read(scope, id, wanted, false, signal),
    placeholderData: keepPreviousData,
  });
}

/** Lets the model write the summary that the window wants. */
export function useSummarise(id: string, wanted: WantedWindow) {
  const scope = useScope();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => read(scope, id, wanted, true),
    onSuccess: () => queries.invalidateQueries({ queryKey: [...keys.of(scope, id), 'window'] }),
  });
}

function read(scope: Scope, id: string, wanted: WantedWindow, summarise: boolean, signal?: AbortSignal) {
  const query = {
    ...scope,
    summarise,
    ...(wanted.strategy && { strategy: wanted.strategy }),
    ...(wanted.budget && { max_tokens: wanted.budget }),
    ...(wanted.question && { q: wanted.question }),
  };
  const params = { path: { id }, query };
  return unwrap(client.GET('/api/conversations/{id}/window', { params, pathSerializer, ...(signal && { signal }) }));
}

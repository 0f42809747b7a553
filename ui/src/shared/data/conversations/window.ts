import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import type { components } from '@/shared/api/schema';
import { useChange } from '../change';
import { inScope, type Place, useScope } from '../scope';
import { conversationKeys as keys } from './keys';

export type Window = components['schemas']['WindowAnswer'];
export type WindowPart = components['schemas']['WindowPartAnswer'];
export type Strategy = 'simple' | 'summarization' | 'hybrid';

export interface WantedWindow {
  /** "" and null: as the server's settings say. */
  strategy: Strategy | '';
  budget: number | null;
  question: string;
}

/** What a model would be shown, with the summary there is: looking asks no model. */
export function useWindow(id: string, wanted: WantedWindow) {
  const place = { ...useScope(), conversation: id };
  return useQuery({
    queryKey: [...keys.window(place), wanted],
    queryFn: ({ signal }) => windowOf(place, wanted, false, signal),
    placeholderData: keepPreviousData,
  });
}

/** Lets the model write the summary that the window wants. */
export function useSummarise(id: string, wanted: WantedWindow) {
  const place = { ...useScope(), conversation: id };
  return useChange(() => windowOf(place, wanted, true), [keys.window(place)]);
}

function windowOf(place: Place, wanted: WantedWindow, summarise: boolean, signal?: AbortSignal) {
  const query = {
    ...inScope(place),
    summarise,
    ...(wanted.strategy && { strategy: wanted.strategy }),
    ...(wanted.budget && { max_tokens: wanted.budget }),
    ...(wanted.question && { q: wanted.question }),
  };
  const params = { path: { id: place.conversation }, query };
  return unwrap(client.GET('/api/conversations/{id}/window', { params, ...(signal && { signal }) }));
}

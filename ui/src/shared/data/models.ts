import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';
import { useSettings } from '../settings/settings';

/** The names that can be asked: models, or the workflows of a config tree. */
export function useModels() {
  return useQuery({ queryKey: ['models'], queryFn: () => modelNames(), staleTime: 60_000 });
}

/** `headers` take the place of those that requests have otherwise. */
export async function modelNames(headers: Record<string, string> = {}): Promise<string[]> {
  return (await unwrap(client.GET('/v1/models', { headers }))).data.map(model => model.id);
}

/**
 * The name that is asked: the one that was chosen, else, or if it is gone, the first one. A server of several users
 * answers nobody who names none.
 */
export function useModel(): string {
  const { model } = useSettings();
  const { data: names } = useModels();
  return !names || names.includes(model) ? model : (names[0] ?? '');
}

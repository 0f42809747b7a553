import { useQuery } from '@tanstack/react-query';
import { client, isBySession, unwrap } from '@/shared/api/client';
import { useSettings } from '../settings/settings';
import { useMay } from './access';

/** The names that can be asked: models, or the workflows of a config tree. */
export function useModels() {
  return useQuery({
    queryKey: ['models'],
    queryFn: async () =>
      (await unwrap(client.GET(isBySession() ? '/api/page/models' : '/v1/models'))).data.map(model => model.id),
    enabled: useMay().read,
    staleTime: 60_000,
  });
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

import { useQuery } from '@tanstack/react-query';
import { client, unwrap } from '@/shared/api/client';

/** The names that can be asked: models, or the workflows of a config tree. */
export function useModels() {
  return useQuery({
    queryKey: ['models'],
    queryFn: async () => (await unwrap(client.GET('/v1/models'))).data.map(model => model.id),
    staleTime: 60_000,
  });
}
